#!/usr/bin/env python3
"""Starts tasks as tools/flowgraph launch does, and looks at who is left.

  check_launch.py LAUNCHER ECHO
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

LAUNCHER, ECHO = sys.argv[1:]


def command(*options: str, program: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-B", LAUNCHER, "launch", *options, "--", *program]


def launch(*options: str, program: tuple[str, ...]) -> tuple[int, str, float]:
    began = time.monotonic()
    done = subprocess.run(command(*options, program=program), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120)
    return done.returncode, done.stdout, time.monotonic() - began


def check(what: str, holds: bool, text: object = "") -> None:
    if not holds:
        sys.exit(f"check_launch: not so: {what}\n{text}")


def alive(text: str) -> list[int]:
    found = []
    for number in map(int, re.findall(r"is up, process (\d+)", text)):
        try:
            state = pathlib.Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0]
            if state != "Z":
                found.append(number)
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def both_ways() -> None:
    for options in ([], ["--tcp"]):
        status, text, _ = launch("--ps", "2", "--workers", "3", *options, program=(ECHO,))
        check("all ends well", status == 0, text)
        check("each line has its task", all(f"worker:{w} | ps {p}: the same" in text for w in range(3) for p in range(2)), text)
        check("servers saw all", all(f"ps:{p}     | /job:worker/task:{w} came by unix" in text for w in range(3) for p in range(2)),
              text)
        check("it shows who is up", "worker:2 is up" in text and "0 of 5 run" in text, text)
        check("tasks say who they are", "flowgraph: /job:ps/task:1 of flowgraph (FLOWGRAPH_CLUSTER) listens at" in text, text)
        check("nobody is left", alive(text) == [], text)


def one_fails() -> None:
    status, text, _ = launch("--ps", "1", "--workers", "2", program=(ECHO, "fail", "worker:1"))
    check("its status is the launcher's", status == 3, text)
    check("it says who", "worker:1 failed with status 3" in text and "worker:1 has failed: the others are ended" in text, text)
    check("nobody is left", alive(text) == [], text)
    # Who does not end when asked to is killed.
    status, text, took = launch("--ps", "1", "--workers", "2", "--grace", "1", program=("/bin/sh", "-c", """
        case $FLOWGRAPH_TASK in */job:ps*) trap '' TERM; while :; do sleep 0.1; done ;; */task:1) sleep 0.5; exit 4 ;; esac"""))
    check("the status is of who failed", status == 4, text)
    check("it was killed", "ps:0 was ended by SIGKILL" in text and took < 30, text)
    check("nobody is left", alive(text) == [], text)


def servers_that_stay() -> None:
    status, text, _ = launch("--ps", "1", "--workers", "1", "--grace", "1", program=("/bin/sh", "-c", """
        case $FLOWGRAPH_TASK in */job:ps*) sleep 1000 ;; esac"""))
    check("the workers decide", "the workers are done; the servers are ended" in text and status == 0, text)


def interrupted() -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        scratch = tempfile.TemporaryDirectory()  # who is killed leaves a directory behind
        process = subprocess.Popen(command("--workers", "2", "--grace", "2", program=("/bin/sleep", "1000")),
                                   stderr=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": scratch.name})
        said = ""
        while said.count("is up") < 2:
            said += process.stderr.readline()
        process.send_signal(number)
        status = process.wait(timeout=60)
        check("its status says so", status == (128 + number if number == signal.SIGTERM else -number), status)
        for _ in range(100):
            if not alive(said):
                break
            time.sleep(0.1)
        check(f"nobody is left after {number.name}", alive(said) == [], said)
        scratch.cleanup()


def mistakes() -> None:
    status, text, _ = launch(program=())
    check("a program is needed", status == 2 and "which program?" in text, text)
    status, text, _ = launch(program=("/no/such/program",))
    check("a missing program is said", status == 127 and "/no/such/program: No such file" in text, text)
    check("no task is none", launch("--workers", "0", program=(ECHO,))[0] == 2)


def printed() -> None:
    given = ("./prog", "an argument", "a\"b'c")
    status, text, _ = launch("--ps", "2", "--workers", "3", "--print", "slurm", program=given)
    check("slurm", status == 0 and "#SBATCH --ntasks=5" in text and "FLOWGRAPH_PS=2" in text and "srun -m block" in text, text)
    check("it is a script", subprocess.run(["bash", "-n"], input=text, text=True).returncode == 0, text)
    text = launch("--ps", "2", "--workers", "3", "--print", "mpirun", program=given)[1]
    check("mpirun", "mpirun -n 5 -x FLOWGRAPH_NAME -x FLOWGRAPH_PS ./prog 'an argument'" in text and "worker=h2:4711" in text, text)
    check("it is a script", subprocess.run(["bash", "-n"], input=text, text=True).returncode == 0, text)
    text = launch("--ps", "1", "--workers", "2", "--name", "digits", "--print", "kubernetes", "--image", "registry/prog:1", program=given)[1]
    try:
        import yaml
    except ImportError:
        print("the manifest was not parsed: no Python module yaml")
        return
    service, job = yaml.safe_load_all(text)
    pod = job["spec"]["template"]["spec"]
    check("an indexed job", job["spec"]["completionMode"] == "Indexed" and job["spec"]["completions"] == 3, text)
    check("its pods have names", pod["subdomain"] == service["metadata"]["name"] and service["spec"]["clusterIP"] == "None"
          and service["spec"]["selector"] == job["spec"]["template"]["metadata"]["labels"], text)
    check("the program", pod["containers"][0]["command"] == list(given) and pod["restartPolicy"] in ("OnFailure", "Never"), text)
    check("its variables", {"name": "FLOWGRAPH_SIZE", "value": "3"} in pod["containers"][0]["env"], text)


both_ways()
one_fails()
servers_that_stay()
interrupted()
mistakes()
printed()
