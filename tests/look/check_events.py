#!/usr/bin/env python3
"""Reads the event files that look_samples wrote, with TensorBoard's own code, and compares them with what went in.

  check_events.py DIRECTORY [PYTHON]

PYTHON is another interpreter to try, which has the package tensorboard. Ends with 77, after saying why, where nobody
has it.
"""

import io
import os
import pathlib
import sys


def skip(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(77)


try:
    import numpy as np
    from tensorboard.backend.event_processing import event_accumulator
    from tensorboard.compat.proto import config_pb2, graph_pb2
except ImportError:
    other = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if other is None or not other.is_file():
        skip("the Python package tensorboard is not installed")
    os.execv(other, [str(other), *sys.argv[:2]])


def check_histograms(events: event_accumulator.EventAccumulator) -> None:
    assert set(events.Tags()["histograms"]) >= {"weights", "numbers", "empty", "same"}, events.Tags()
    values = {tag: events.Histograms(tag)[0].histogram_value for tag in ("weights", "numbers", "empty", "same")}
    numbers = values["numbers"]
    assert (numbers.min, numbers.max, numbers.num, numbers.sum, numbers.sum_squares) == (-1, 2, 5, 2, 5.5), numbers
    expected, _ = np.histogram([-1, 0, 0.5, 0.5, 2], bins=30)
    assert list(numbers.bucket) == list(expected), numbers.bucket
    assert np.allclose(numbers.bucket_limit, np.linspace(-1, 2, 31)[1:])
    assert values["weights"].num == 32 * 32 and sum(values["weights"].bucket) == 32 * 32
    assert values["empty"].num == 0 and list(values["empty"].bucket) == [0]
    assert values["same"].min == values["same"].max == 5 and list(values["same"].bucket) == [3]


def decode_png(data: bytes) -> "np.ndarray | None":
    try:
        from PIL import Image
    except ImportError:
        return None
    return np.asarray(Image.open(io.BytesIO(data)))


def check_tensors(events: event_accumulator.EventAccumulator) -> None:
    tags = events.Tags()["tensors"]
    assert "note" in tags, tags
    plugin = events.SummaryMetadata("note").plugin_data.plugin_name
    words = events.Tensors("note")[0].tensor_proto.string_val[0].decode()
    assert (plugin, words) == ("text", "# A *heading*\n\nz\u00fcrich"), (plugin, words)
    if "pictures" not in tags:
        print("images: not written, the program was built without libpng")
        return
    assert events.SummaryMetadata("pictures").plugin_data.plugin_name == "images"
    width, height, *files = events.Tensors("pictures")[0].tensor_proto.string_val
    assert (width, height, len(files)) == (b"6", b"4", 2)
    for i, file in enumerate(files):
        pixels = decode_png(file)
        if pixels is not None:
            assert (pixels == (np.arange(72) + 72 * i).reshape(4, 6, 3) % 256).all()
    width, height, gray = events.Tensors("gray")[0].tensor_proto.string_val
    pixels = decode_png(gray)
    assert (width, height) == (b"3", b"2")
    if pixels is not None:
        assert (pixels == [[0, 128, 255], [255, 0, 64]]).all(), pixels


def check_graph(events: event_accumulator.EventAccumulator) -> None:
    graph = events.Graph()
    nodes = {n.name: n for n in graph.node}
    assert len(nodes) == len(graph.node) >= 300, len(graph.node)
    for n in graph.node:
        for i in n.input:
            assert i.lstrip("^") in nodes, (n.name, i)
    out = nodes["block2/out"]
    (shape,) = out.attr["_output_shapes"].list.shape
    assert [(d.size, d.name) for d in shape.dim] == [(-1, "batch"), (32, "")], shape
    assert out.attr["dtype"].type == 1 and b"main.cpp:" in out.attr["where"].s
    product = [n for n in graph.node if n.name.startswith("block2/inner/matmul_")]
    assert len(product) == 3 and list(product[0].input) == ["block1/out", "block2/w"], product  # two in its gradient
    assert nodes["block3/w"].op == "variable" and not nodes["block3/w"].input
    assert nodes["head/logits"].device == "/cpu:1" and nodes["block3/w"].device == "", nodes["head/logits"]

    (tag,) = events.Tags()["run_metadata"]
    assert tag == "step 4", tag
    stats = events.RunMetadata(tag).step_stats
    devices = {d.device: d.node_stats for d in stats.dev_stats}
    assert set(devices) == {"/cpu:0", "/cpu:1"}, devices.keys()
    assert len(devices["/cpu:0"]) > 20 and len(devices["/cpu:1"]) > 3
    for s in [s for each in devices.values() for s in each]:
        assert s.node_name in nodes, s.node_name
        assert s.all_end_rel_nanos >= 0 and s.memory[0].total_bytes > 0 and ".hpp:" in s.timeline_label or (
            ".cpp:" in s.timeline_label
        ), s


def check_page(directory: str) -> None:
    """What TensorBoard's graph page asks its server for."""
    from tensorboard.plugins.graph import graph_util, keras_util  # noqa: F401: they must load beside our files
    from tensorboard.plugins.graph import graphs_plugin
    from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
    from tensorboard.plugins import base_plugin
    from tensorboard import context

    multiplexer = plugin_event_multiplexer.EventMultiplexer()
    multiplexer.AddRunsFromDirectory(directory)
    multiplexer.Reload()
    provider = data_provider.MultiplexerDataProvider(multiplexer, directory)
    plugin = graphs_plugin.GraphsPlugin(base_plugin.TBContext(data_provider=provider))
    ctx = context.RequestContext()
    runs = plugin.info_impl(ctx, experiment="")
    (run,) = runs
    assert runs[run]["run_graph"] and list(runs[run]["tags"]) == ["step 4"], runs
    text, _ = plugin.graph_impl(ctx, run, tag=None, is_conceptual=False, experiment="")
    assert 'name: "block2/out"' in text
    metadata, _ = plugin.run_metadata_impl(ctx, experiment="", run=run, tag="step 4")
    assert "node_stats" in metadata


def main() -> int:
    directory = sys.argv[1]
    if not os.path.isdir(directory):
        skip("the program was built without protozero")
    events = event_accumulator.EventAccumulator(directory, size_guidance={"scalars": 0, "tensors": 0, "histograms": 0})
    events.Reload()
    assert [(s.step, s.value) for s in events.Scalars("train/loss")] == [
        (100 * i, float(np.float32(1 / (1 + i)))) for i in range(10)
    ]
    check_histograms(events)
    check_tensors(events)
    check_graph(events)
    check_page(directory)
    print("scalars, histograms, text, images, graph and profile as they were written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
