"""tools/flowgraph launch: all tasks of a cluster on one machine, or what starts them elsewhere.

Their output is collected, each line with its task in front. When one fails the others are ended; when all workers are done
the servers have --grace seconds to end as well. The status is that of the first task that failed.
"""

import argparse
import ctypes
import os
import pathlib
import queue
import secrets
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

PR_SET_PDEATHSIG = 1


def add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("--ps", type=int, default=0, metavar="N", help="parameter servers, /job:ps")
    p.add_argument("--workers", type=int, default=1, metavar="M", help="/job:worker")
    p.add_argument("--tcp", action="store_true", help="give tasks ports of this machine, and a key, rather than Unix sockets")
    p.add_argument("--name", default="flowgraph", help="of the cluster")
    p.add_argument("--grace", type=float, default=10, metavar="SECONDS", help="for a task that is to end, before it is killed")
    p.add_argument("--print", choices=["slurm", "mpirun", "kubernetes"], dest="show", help="what starts the same there")
    p.add_argument("--port", type=int, default=4711, help="with --print: of the first task on a host")
    p.add_argument("--image", default="IMAGE", help="with --print kubernetes: the container")
    p.add_argument("program", nargs=argparse.REMAINDER, metavar="-- PROGRAM ARGUMENT...")


def say(text: str) -> None:
    print(f"flowgraph: {text}", file=sys.stderr, flush=True)


# ---- elsewhere


def quoted(text: str) -> str:
    """As YAML and JSON both write it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def printed(args: argparse.Namespace, command: list[str]) -> str:
    size = args.ps + args.workers
    words = shlex.join(command)
    key = "(umask 077; openssl rand -hex 32 > cluster.key)"
    if args.show == "slurm":
        return f"""#!/bin/bash
# sbatch THIS_FILE; once before: {key}
#SBATCH --job-name={args.name}
#SBATCH --ntasks={size}
export FLOWGRAPH_NAME={shlex.quote(args.name)} FLOWGRAPH_PS={args.ps} FLOWGRAPH_PORT={args.port}
export FLOWGRAPH_KEY_FILE="$PWD/cluster.key"
srun -m block --kill-on-bad-exit=1 {words}
"""
    if args.show == "mpirun":
        return f"""# On one host: Open MPI, then MPICH.
FLOWGRAPH_NAME={shlex.quote(args.name)} FLOWGRAPH_PS={args.ps} \\
  mpirun -n {size} -x FLOWGRAPH_NAME -x FLOWGRAPH_PS {words}
mpirun -n {size} -genv FLOWGRAPH_NAME {shlex.quote(args.name)} -genv FLOWGRAPH_PS {args.ps} \\
  -genv FLOWGRAPH_RUN "run$$" {words}
# Over several hosts mpirun gives no addresses: a program with FLOWGRAPH_MPI needs none. For another also set, in the order of
# the ranks,
#   FLOWGRAPH_CLUSTER="{example_list(args)}"
#   FLOWGRAPH_KEY_FILE=<a file on all hosts>   # {key}
"""
    variables = {"FLOWGRAPH_NAME": args.name, "FLOWGRAPH_PS": str(args.ps), "FLOWGRAPH_PORT": str(args.port),
                 "FLOWGRAPH_SIZE": str(size), "FLOWGRAPH_SERVICE": args.name, "FLOWGRAPH_KEY_FILE": "/run/cluster-key/key"}
    env = "\n".join(f"            - {{name: {name}, value: {quoted(value)}}}" for name, value in variables.items())
    return f"""# kubectl create secret generic {args.name}-key --from-literal=key=$(openssl rand -hex 32)
# kubectl apply -f THIS_FILE
apiVersion: v1
kind: Service
metadata:
  name: {args.name}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector: {{flowgraph-cluster: {args.name}}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {args.name}
spec:
  completionMode: Indexed
  completions: {size}
  parallelism: {size}
  backoffLimit: {4 * size}
  template:
    metadata:
      labels: {{flowgraph-cluster: {args.name}}}
    spec:
      subdomain: {args.name}
      restartPolicy: OnFailure
      containers:
        - name: task
          image: {quoted(args.image)}
          command: [{", ".join(quoted(word) for word in command)}]
          ports: [{{containerPort: {args.port}}}]
          env:
{env}
          volumeMounts: [{{name: key, mountPath: /run/cluster-key, readOnly: true}}]
      volumes:
        - name: key
          secret: {{secretName: {args.name}-key}}
"""


def example_list(args: argparse.Namespace) -> str:
    hosts = [f"h{i}:{args.port}" for i in range(args.ps + args.workers)]
    jobs = {"ps": hosts[: args.ps], "worker": hosts[args.ps :]}
    return ";".join(f"{job}={','.join(at)}" for job, at in jobs.items() if at)


# ---- here


def with_its_parent() -> None:
    """A task does not outlive its launcher, whatever ends that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Task:
    def __init__(self, name: str, command: list[str], environment: dict[str, str], events: queue.Queue):
        self.name = name
        self.ended: int | None = None
        self.process = subprocess.Popen(command, env=os.environ | environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=with_its_parent)
        threading.Thread(target=self.collect, args=(events,), daemon=True).start()
        threading.Thread(target=self.wait, args=(events,), daemon=True).start()

    def collect(self, events: queue.Queue) -> None:
        for line in self.process.stdout:
            events.put((self, line.decode(errors="replace").rstrip("\n")))
        events.put((self, None))

    def wait(self, events: queue.Queue) -> None:
        events.put((self, self.process.wait()))

    def signal(self, number: int) -> None:
        """To all processes of the task."""
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass


def ended_how(status: int) -> str:
    if status >= 0:
        return "done" if status == 0 else f"failed with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def run(args: argparse.Namespace, command: list[str]) -> int:
    names = [("ps", i) for i in range(args.ps)] + [("worker", i) for i in range(args.workers)]
    with tempfile.TemporaryDirectory(prefix="flowgraph-") as directory:
        held = []  # ports are bound here, though nobody listens, until the tasks have them
        environment = {"FLOWGRAPH_NAME": args.name}
        at: dict[str, list[str]] = {}
        for job, index in names:
            address = f"unix:{directory}/{job}{index}"
            if args.tcp:
                holder = socket.socket()
                holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                holder.bind(("127.0.0.1", 0))
                held.append(holder)
                address = f"127.0.0.1:{holder.getsockname()[1]}"
            at.setdefault(job, []).append(address)
        environment["FLOWGRAPH_CLUSTER"] = ";".join(f"{job}={','.join(addresses)}" for job, addresses in at.items())
        if args.tcp and not {"FLOWGRAPH_KEY", "FLOWGRAPH_KEY_FILE"} & set(os.environ):
            key = pathlib.Path(directory, "key")
            key.touch(mode=0o600)
            key.write_text(secrets.token_hex(32))
            environment["FLOWGRAPH_KEY_FILE"] = str(key)
        try:
            return watch(args, command, names, environment)
        finally:
            for holder in held:
                holder.close()


def watch(args: argparse.Namespace, command: list[str], names: list[tuple[str, int]], environment: dict[str, str]) -> int:
    events: queue.Queue = queue.Queue()
    tasks: list[Task] = []
    stopped: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda n, _: (stopped.append(n), events.put((None, None))))
    result, killed, deadline = 0, False, None

    def end(why: str) -> None:
        nonlocal deadline
        if deadline is None:
            say(why)
            deadline = time.monotonic() + args.grace
            for other in tasks:
                if other.ended is None:
                    other.signal(signal.SIGTERM)

    try:
        for job, index in names:
            name = f"{job}:{index}"
            task = {"FLOWGRAPH_TASK": f"/job:{job}/task:{index}"}
            tasks.append(Task(name, command, environment | task, events))
            say(f"{name} is up, process {tasks[-1].process.pid}")
    except OSError as error:
        say(f"{command[0]}: {error.strerror}")
        for task in tasks:
            task.signal(signal.SIGKILL)
        return 127

    width = max(len(task.name) for task in tasks)
    servers_until = None
    open_outputs = len(tasks)
    while open_outputs or any(task.ended is None for task in tasks):
        until = min((t for t in (deadline, servers_until) if t is not None), default=None)
        try:
            task, what = events.get(timeout=None if until is None else max(0.0, until - time.monotonic()))
        except queue.Empty:
            if deadline is not None and time.monotonic() >= deadline:
                if killed:
                    break  # what holds the output is no task
                killed = True
                deadline = time.monotonic() + 2
                for other in tasks:
                    other.signal(signal.SIGKILL)
            elif servers_until is not None:
                servers_until = None
                end("the workers are done; the servers are ended")
            continue
        if task is None:
            result = result or 128 + stopped[0]
            end(f"{signal.Signals(stopped[0]).name}: all tasks are ended")
        elif isinstance(what, str):
            print(f"{task.name:<{width}} | {what}", flush=True)
        elif what is None:
            open_outputs -= 1
        else:
            task.ended = what
            running = sum(other.ended is None for other in tasks)
            say(f"{task.name} {ended_how(what)}; {running} of {len(tasks)} run")
            if what != 0 and deadline is None:
                result = what if what > 0 else 128 - what
                end(f"{task.name} has failed: the others are ended")
            workers = [other for other in tasks if other.name.startswith("worker:")]
            if deadline is None and running and workers and all(other.ended == 0 for other in workers):
                servers_until = servers_until or time.monotonic() + args.grace
    for task in tasks:  # what they have left behind
        task.signal(signal.SIGKILL)
    return result


def main(args: argparse.Namespace) -> int:
    command = args.program[1:] if args.program[:1] == ["--"] else args.program
    if not command:
        say("which program? tools/flowgraph launch --ps 1 --workers 2 -- ./prog argument")
        return 2
    if args.ps < 0 or args.workers < 0 or args.ps + args.workers < 1:
        say("a cluster has at least one task")
        return 2
    if args.show:
        print(printed(args, command), end="")
        return 0
    return run(args, command)
