"""What fuzz.py makes models of: for each op that is imported, random operands and attributes, right ones for the most part."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FLOATS = [np.float32, np.float32, np.float32, np.float64, np.float16]
INTEGERS = [np.int64, np.int32, np.int8, np.uint8]
OPSETS = [13, 14, 15, 17, 18, 19, 20, 21]
# Numbers at which functions turn, and rounding shows. Denormals are left out: docs/numerics.md says what becomes of them.
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 1e-4, -1e-7, 3e-20, 20.0, -20.0, 88.9, -88.9, 89.3, 1e4, -3e18, np.inf, -np.inf, np.nan]


class Unfit(Exception):
    """No model came of these choices."""


def has_both(a: np.ndarray, b: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Where both are so small that one is a denormal and the other may be 0."""
    tiny = float(np.finfo(dtype).tiny)
    return (np.abs(a) <= tiny) & (np.abs(b) <= tiny)


class Model:
    """One random model: `what` it is, its `proto`, and the `feeds` for it."""

    def __init__(self, random: np.random.Generator, op, length: int):
        self.random, self.op = random, op
        self.opset = int(random.choice(OPSETS))
        self.nodes, self.initializers, self.inputs, self.feeds = [], [], [], {}
        self.floor = 1.0  # of numbers below it the difference counts, above it their ratio
        self.count, self.looser, self.lenient, self.special = 0, 1.0, False, random.random() < 0.2
        self.outputs = []
        self.named = self.number(1, 4) if self.chance(0.35) else None
        self.derived = self.chance(0.3)
        op(self)
        for _ in range(length - 1):
            self.go_on()
        self.proto = self.build(self.outputs)
        self.what = " ".join(self.text(n) for n in self.nodes if n.op_type != "Constant") + f" of opset {self.opset}"
        self.what += f" on {[f'{v.dtype}{list(v.shape)}' for v in self.feeds.values()]}"

    @staticmethod
    def text(node: onnx.NodeProto) -> str:
        simple = [a for a in node.attribute if a.type not in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.TENSOR)]
        return f"{node.op_type}({', '.join(f'{a.name}={helper.get_attribute_value(a)}' for a in simple)})"

    # Choices.
    def chance(self, p: float) -> bool:
        return bool(self.random.random() < p)

    def number(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def pick(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    def shape(self, low: int = 0, high: int = 4, most: int = 5) -> tuple[int, ...]:
        least = 0 if self.chance(0.04) else 1
        return tuple(self.number(least, most) for _ in range(self.number(low, high)))

    def floats(self):
        return np.dtype(self.pick(FLOATS))

    def type(self):
        return np.dtype(self.pick(FLOATS + INTEGERS))

    def array(self, shape, dtype, low=-3.0, high=3.0) -> np.ndarray:
        dtype = np.dtype(dtype)
        if dtype == np.bool_:
            return np.asarray(self.random.random(shape) < 0.5)
        if dtype.kind in "iu":
            least = max(int(low), 0) if dtype.kind == "u" else int(low)
            return np.asarray(self.random.integers(least, int(high) + 1, shape)).astype(dtype)
        values = np.asarray(self.random.uniform(low, high, shape))
        if self.special:
            odd = self.random.choice(SPECIAL, values.shape)
            values = np.where((self.random.random(values.shape) < 0.5) & (odd >= low if low >= 0 else True), odd, values)
        return np.asarray(values).astype(dtype)

    # Operands.
    def name(self, what: str) -> str:
        self.count += 1
        return f"{what}{self.count}"

    def input(self, value: np.ndarray, names: bool = True) -> str:
        """Extents have numbers; where one number has a name, it has it in all inputs, and the next one is computed of it."""
        name, value = self.name("x"), np.asarray(value)
        dims = [n if not names else "n" if n == self.named else "n + 1" if n - 1 == self.named and self.derived else n for n in value.shape]
        self.feeds[name] = value
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), dims))
        return name

    def known(self, value) -> str:
        """An operand that the importer may have to know."""
        tensor = numpy_helper.from_array(np.asarray(value), self.name("c"))
        if self.chance(0.5):
            self.initializers.append(tensor)
        else:
            self.nodes.append(helper.make_node("Constant", [], [tensor.name], value=tensor))
        return tensor.name

    def operand(self, shape, dtype=np.float32, low=-3.0, high=3.0) -> str:
        value = self.array(shape, dtype, low, high)
        return self.input(value) if self.named is not None or self.chance(0.8) else self.known(value)

    def weight(self, shape, low=-1.0, high=1.0) -> str:
        """Numbers whose extents are known, as those of filters have to be."""
        value = self.array(shape, np.float32, low, high)
        return self.input(value, names=False) if self.chance(0.3) else self.known(value)

    def ints(self, values) -> str:
        return self.known(np.asarray(values, np.int64))

    # Nodes.
    def node(self, op: str, inputs, results: int = 1, **attributes) -> list[str]:
        outputs = [self.name("y") for _ in range(results)]
        self.nodes.append(helper.make_node(op, inputs, outputs, **attributes))
        self.outputs = outputs
        return outputs

    def build(self, outputs) -> onnx.ModelProto:
        values = [helper.make_empty_tensor_value_info(o) for o in outputs]
        graph = helper.make_graph(self.nodes, "g", self.inputs, values, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        return model

    def value(self, name: str) -> np.ndarray:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(self.build([name]).SerializeToString(), options, providers=["CPUExecutionProvider"])
            return session.run([name], self.feeds)[0]
        except Exception as error:  # onnxruntime has no common class for them
            raise Unfit(str(error)) from error

    def go_on(self) -> None:
        """A node on the last one's first result."""
        if any(n.op_type in ("If", "Loop") for n in self.nodes):
            return
        last = self.outputs[0]
        try:
            value = self.value(last)
        except Unfit:
            return
        self.looser, self.floor = 30.0, 1.0
        self.special = False
        self.pick(FURTHER)(self, last, value)


OPS = []


def op(f):
    OPS.append(f)
    return f


def several(*names, **known):
    """A function (model, name) as one op for each name."""

    def add(f):
        for name in names:
            made = lambda m, name=name: f(m, name)  # noqa: E731
            made.__name__ = name
            OPS.append(made)
        return f

    return add


# Element by element.
@several(
    "Neg", "Abs", "Sign", "Exp", "Log", "Sqrt", "Reciprocal", "Sin", "Cos", "Tan", "Tanh", "Sinh", "Cosh", "Sigmoid",
    "Softplus", "Erf", "Relu", "Floor", "Ceil", "Round", "Softsign", "HardSwish", "Identity", "IsNaN", "IsInf", "Mish",
    "Gelu", "Elu", "Selu", "LeakyRelu", "HardSigmoid",
)  # fmt: skip
def unary(m, name):
    if name == "Gelu":
        m.opset = max(m.opset, 20)
    if name == "Mish":
        m.opset = max(m.opset, 18)
    if name == "HardSwish":
        m.opset = max(m.opset, 14)
    attributes = {}
    if name in ("Elu", "LeakyRelu", "Selu", "HardSigmoid") and m.chance(0.5):
        attributes["alpha"] = float(m.random.uniform(0.05, 2))
    if name == "HardSigmoid" and m.chance(0.5):
        attributes["beta"] = float(m.random.uniform(0, 1))
    if name == "Selu" and m.chance(0.5):
        attributes["gamma"] = float(m.random.uniform(0.5, 2))
    if name == "Gelu" and m.chance(0.5):
        attributes["approximate"] = m.pick(["none", "tanh"])
    if name == "IsInf" and m.chance(0.7):
        attributes = {"detect_positive": m.number(0, 1), "detect_negative": m.number(0, 1)}
    if name in ("IsInf", "IsNaN"):
        m.special = True
    if name == "Sign":
        m.special = False  # of NaN onnxruntime says 0
    m.floor = 1e-9 if name in ("Sin", "Tan", "Tanh", "Sinh", "Erf", "Softsign", "Reciprocal", "Sqrt", "Exp", "Cosh") else 1e-2
    integers = name in ("Neg", "Abs", "Sign", "Identity") or (name == "Relu" and m.opset >= 14)
    dtype = m.type() if integers else m.floats()
    if name in ("HardSwish", "Gelu") and dtype == np.float64:
        dtype = np.dtype(np.float32)  # onnxruntime has their constants in float
    if dtype == np.float16:
        m.floor = max(m.floor, 0.1)
    if name == "Mish":
        m.special = False  # -inf times what is 0 or nearly so
    if name in ("Sin", "Cos", "Tan"):
        m.special = False  # of large numbers: how far their reduction is exact is nobody's promise
    scale = m.pick([1e-5, 1e-2, 1.0, 10.0, 100.0]) if name in ("Sinh", "Cosh", "Tanh", "Softplus", "Gelu", "Mish", "Elu", "Erf") else 3.0
    if name == "Tan":
        scale = 1.4
    low = 0.01 if name in ("Log", "Sqrt", "Reciprocal") else -scale
    m.node(name, [m.operand(m.shape(), dtype, low, scale if dtype.kind == "f" else 100)], **attributes)


def pair(m):
    """Two shapes that broadcast."""
    whole = m.shape(0, 4)
    other = tuple(1 if m.chance(0.2) else n for n in whole[m.number(0, len(whole)) :])
    return (whole, other) if m.chance(0.5) else (other, whole)


@several("Add", "Sub", "Mul", "Div", "Mod", "Fmod", "Max", "Min", "Sum", "Mean", "Pow")
def binary(m, name):
    a, b = pair(m)
    dtype = m.type()
    if name in ("Sum", "Mean", "Pow"):
        dtype = m.floats()
    if name == "Mod":
        dtype = np.dtype(m.pick(INTEGERS))
    attributes = {"fmod": 1} if name == "Fmod" else {}
    if name in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Pow") and m.opset < 14 and dtype.itemsize == 1:
        dtype = np.dtype(np.int64)
    left, right = m.array(a, dtype, -100, 100), m.array(b, dtype, -20, 20)
    if dtype.kind in "iu" and name in ("Div", "Mod", "Fmod"):
        right[right == 0] = 3
        # Ends of the range. -1 would overflow, which is nobody's number; onnxruntime's fmod goes through double.
        if m.chance(0.3) and (name != "Fmod" or dtype.itemsize < 8):
            left = np.where(m.random.random(a) < 0.5, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)
            right[right == -1] = 1
    if name in ("Fmod", "Mod"):
        right[right == 0] = 2
    if name == "Pow":
        left = np.abs(left).astype(dtype)
        right = np.clip(right, -2, 2)
        if m.chance(0.3):
            right = right.astype(m.pick([np.int32, np.int64, np.float32]))
    operands = [m.input(v) if m.chance(0.8) else m.known(v) for v in (left, right)]
    if name in ("Max", "Min", "Sum", "Mean") and m.chance(0.3):
        operands = operands + [m.operand(b, dtype)] if m.chance(0.7) else operands[:1]
    m.node("Mod" if name == "Fmod" else name, operands, **attributes)


@op
def integer_ends(m):
    """Whole numbers that a double can't hold, or that wrap around."""
    dtype = np.dtype(m.pick([np.int64, np.int32]))
    info = np.iinfo(dtype)
    choices = np.array([info.min, info.max, info.min + 1, 0, 1, -1, 2**53 + 1 if dtype.itemsize == 8 else 7, -5], dtype)
    shape = m.shape(1, 2)
    left, right = m.random.choice(choices, shape), m.random.choice(choices, shape)
    name = m.pick(["Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "Equal", "Neg", "Abs", "Sign", "Where", "Identity"])
    if name == "Div":
        right[(right == 0) | (right == -1)] = 7
    if name in ("Neg", "Abs", "Sign", "Identity"):
        return m.node(name, [m.input(left)])
    operands = [m.input(left), m.input(right) if m.chance(0.6) else m.known(right)]
    m.node(name, [m.input(m.array(shape, bool)), *operands] if name == "Where" else operands)


@several("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor", "Not")
def comparison(m, name):
    a, b = pair(m)
    logical = name in ("And", "Or", "Xor", "Not")
    dtype = np.dtype(bool) if logical or (name == "Equal" and m.chance(0.2)) else np.dtype(m.pick([np.float32, np.float64, np.int32, np.int64]))
    operands = [m.operand(a, dtype, -2, 2), m.operand(b, dtype, -2, 2)]
    m.node(name, operands[: 1 if name == "Not" else 2])


@op
def where(m):
    a, b = pair(m)
    c, _ = pair(m) if m.chance(0.1) else (a, b)
    dtype = m.pick([np.float32, np.float64, np.int64, np.int32, np.uint8])
    m.node("Where", [m.operand(a, bool), m.operand(b, dtype), m.operand(c if m.chance(0.7) else (), dtype)])


@op
def clip(m):
    dtype = m.floats() if m.chance(0.7) else np.dtype(m.pick([np.int64, np.int32, np.int8, np.uint8]))
    m.special = False  # of NaN onnxruntime gives a bound
    operands = [m.operand(m.shape(), dtype, -10, 10)]
    low, high = m.array((), dtype, -5, 2), m.array((), dtype, 0, 8)
    operands += [m.known(low) if m.chance(0.7) else ""]
    operands += [m.known(high) if m.chance(0.7) else ""]
    while operands[-1] == "":
        operands.pop()
    m.node("Clip", operands)


@op
def cast(m):
    kinds = [np.float32, np.float64, np.float16, np.int64, np.int32, np.int8, np.uint8, bool]
    from_, to = np.dtype(m.pick(kinds)), np.dtype(m.pick(kinds))
    m.special = m.special and to.kind == "f"
    low = 0 if to == np.uint8 or from_ == np.uint8 else -3
    m.node("Cast", [m.operand(m.shape(), from_, low, 3)], to=helper.np_dtype_to_tensor_dtype(to))


@op
def prelu(m):
    shape = m.shape(1, 4)
    slope = tuple(1 if m.chance(0.4) else n for n in shape[m.number(0, len(shape)) :])
    dtype = m.pick([np.float32, np.float64])
    m.node("PRelu", [m.operand(shape, dtype), m.operand(slope, dtype)])


# Reductions.
@several(
    "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
    "ReduceLogSumExp", "ReduceSumSquare",
)  # fmt: skip
def reduction(m, name):
    shape = tuple(max(n, 1) for n in m.shape(0, 4))  # of nothing, onnxruntime's own results have other ranks than ONNX says
    dtype = m.pick([np.float32, np.float32, np.float64, np.int32, np.int64])
    if name in ("ReduceMean", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
        dtype = m.pick([np.float32, np.float64])
    low = 0.1 if name == "ReduceLogSum" else -3
    m.special = m.special and name == "ReduceSum"  # which of NaN and inf is larger is not said
    inputs, attributes = [m.operand(shape, dtype, low, 3)], {}
    axes = m.random.permutation(len(shape))[: m.number(0, len(shape))]
    axes = [int(a) - (len(shape) if m.chance(0.3) else 0) for a in axes]
    if m.chance(0.5):
        attributes["keepdims"] = m.number(0, 1)
    if m.chance(0.8):
        if m.opset >= 18 or (name == "ReduceSum"):
            inputs.append(m.ints(axes))
            if m.chance(0.3):
                attributes["noop_with_empty_axes"] = m.number(0, 1)
        elif axes:
            attributes["axes"] = axes
    m.node(name, inputs, **attributes)


@several("ArgMax", "ArgMin")
def position(m, name):
    shape = tuple(max(n, 1) for n in m.shape(1, 4))
    axis = m.number(-len(shape), len(shape) - 1)
    m.special = False
    m.node(name, [m.operand(shape, m.pick([np.float32, np.float64, np.int32]), -9, 9)], axis=axis, keepdims=m.number(0, 1))


@several("Softmax", "LogSoftmax")
def softmax(m, name):
    shape = m.shape(1, 4)
    m.special = False
    attributes = {"axis": m.number(-len(shape), len(shape) - 1)} if m.chance(0.8) else {}
    m.node(name, [m.operand(shape, m.pick([np.float32, np.float64]), -50, 50)], **attributes)


@op
def cumsum(m):
    shape = m.shape(1, 4)
    m.special = False
    axis = np.asarray(m.number(-len(shape), len(shape) - 1), m.pick([np.int32, np.int64]))
    m.node("CumSum", [m.operand(shape, m.pick([np.float32, np.float64, np.int32, np.int64])), m.known(axis)], exclusive=m.number(0, 1), reverse=m.number(0, 1))


@op
def top_k(m):
    shape = tuple(max(n, 1) for n in m.shape(1, 4))
    axis = m.number(-len(shape), len(shape) - 1)
    m.special = False
    k = m.number(0, shape[axis])
    m.node("TopK", [m.operand(shape, m.pick([np.float32, np.float64, np.int64, np.int32]), -4 if m.chance(0.5) else -1000, 4 if m.chance(0.5) else 1000), m.ints([k])], 2, axis=axis, largest=m.number(0, 1), sorted=1)


# Moving elements.
def reshape_target(m, shape):
    """Another shape of as many elements; 0 and -1 at times, wrong ones at times."""
    count = int(np.prod(shape, dtype=np.int64))
    target, rest = [], count
    for _ in range(m.number(0, 4)):
        divisors = [d for d in range(1, rest + 1) if rest % d == 0] if rest else [0, 1, 2]
        target.append(m.pick(divisors))
        rest = rest // target[-1] if target[-1] else rest
    if rest != 1 or not target:
        target.append(rest)
    if m.chance(0.4):
        target[m.number(0, len(target) - 1)] = -1
    for i in range(min(len(shape), len(target))):
        if target[i] == shape[i] and m.chance(0.4):
            target[i] = 0
    if m.chance(0.1):
        target[m.number(0, len(target) - 1)] = m.number(1, 7)
    return target


@op
def reshape(m):
    shape = m.shape(0, 4)
    attributes = {"allowzero": m.number(0, 1)} if m.opset >= 14 and m.chance(0.3) else {}
    m.node("Reshape", [m.operand(shape, m.type()), m.ints(reshape_target(m, shape))], **attributes)


@op
def reshape_by_shape(m):
    """To what is computed of shapes."""
    shape = tuple(max(n, 1) for n in m.shape(2, 4))
    x = m.input(m.array(shape, np.float32))
    s = m.node("Shape", [x])[0]
    way = m.number(0, 5)
    if way == 0:  # the first axis, and the rest
        first = m.node("Gather", [s, m.ints([0])], axis=0)[0]
        target = m.node("Concat", [first, m.ints([-1])], axis=0)[0]
    elif way == 1:
        first = m.node("Unsqueeze", [m.node("Gather", [s, m.ints(0)])[0], m.ints([0])])[0]
        target = m.node("Concat", [m.ints([-1]), first], axis=0)[0]
    elif way == 2:
        target = m.node("Slice", [s, m.ints([m.number(-3, 1)]), m.ints([2**63 - 1])])[0]
        target = m.node("Concat", [m.ints([-1]), target], axis=0)[0]
    elif way == 3:
        last = m.node("Gather", [s, m.ints(-1)])[0]
        twice = m.node("Mul", [last, m.ints(2)])[0]
        back = m.node("Div", [twice, m.ints(2)])[0]
        back = m.node("Reshape", [back, m.ints([1])])[0]
        target = m.node("Concat", [m.ints([-1]), back], axis=0)[0]
    elif way == 4:
        size = m.node("Size", [x])[0]
        target = m.node("Unsqueeze", [size, m.ints([0])])[0]
    else:
        part = m.node("Gather", [s, m.ints([0])])[0]
        other = m.node("Gather", [s, m.ints([1])])[0]
        target = m.node("Concat", [m.node("Mul", [part, other])[0], m.ints([-1])], axis=0)[0]
    m.node("Reshape", [x, target])


@op
def shape_arithmetic(m):
    """Numbers of shapes as a result."""
    shape = m.shape(1, 4)
    x = m.input(m.array(shape, np.float32))
    attributes = {"start": m.number(-4, 3), "end": m.number(-4, 5)} if m.opset >= 15 and m.chance(0.5) else {}
    y = m.node("Shape", [x], **attributes)[0] if m.chance(0.8) else m.node("Size", [x])[0]
    for _ in range(m.number(1, 3)):
        way = m.pick(["Add", "Sub", "Mul", "Div", "Cast", "Slice", "Gather", "Mod", "Max", "Neg", "Equal", "Unsqueeze", "ReduceProd"])
        try:
            n = m.value(y).shape
        except Unfit:
            break
        if way in ("Add", "Sub", "Mul", "Max"):
            y = m.node(way, [y, m.ints(m.number(-3, 5))] if m.chance(0.7) else [m.ints(m.number(-3, 5)), y])[0]
        elif way in ("Div", "Mod"):
            y = m.node(way, [y, m.ints(m.pick([-2, 1, 2, 3]))])[0]
        elif way == "Cast":
            y = m.node("Cast", [y], to=TensorProto.INT64)[0]
        elif way == "Neg":
            y = m.node("Neg", [y])[0]
        elif way == "Slice" and len(n) == 1:
            step = m.pick([1, 2, -1])
            end = m.pick([-1, 1, 2, 2**63 - 1 if step > 0 else -(2**63)])
            y = m.node("Slice", [y, m.ints([m.number(-3, 2)]), m.ints([end]), m.ints([0]), m.ints([step])])[0]
        elif way == "Gather" and len(n) == 1 and n[0] > 0:
            y = m.node("Gather", [y, m.ints(m.pick([[0], [-1], 0, -1, [0, -1], [[0], [0]]]))])[0]
        elif way == "Unsqueeze":
            y = m.node("Unsqueeze", [y, m.ints([m.pick([0, -1])])])[0]
        elif way == "ReduceProd" and m.opset >= 18:
            y = m.node("ReduceProd", [y], keepdims=m.number(0, 1))[0]


@op
def flatten(m):
    shape = m.shape(0, 4)
    m.node("Flatten", [m.operand(shape, np.float32)], **({"axis": m.number(-len(shape), len(shape))} if m.chance(0.8) else {}))


@op
def squeeze(m):
    shape = tuple(1 if m.chance(0.5) else n for n in m.shape(0, 5))
    ones = [i for i, n in enumerate(shape) if n == 1]
    inputs = [m.operand(shape, m.type())]
    if m.chance(0.7):
        some = [int(a) - (len(shape) if m.chance(0.3) else 0) for a in m.random.permutation(ones)[: m.number(0, len(ones))]]
        if some:
            inputs.append(m.ints(some))
    m.node("Squeeze", inputs)


@op
def unsqueeze(m):
    shape = m.shape(0, 3)
    more = m.number(1, 3)
    axes = m.random.permutation(len(shape) + more)[:more]
    axes = [int(a) - (len(shape) + more if m.chance(0.3) else 0) for a in axes]
    m.node("Unsqueeze", [m.operand(shape, m.type()), m.ints(axes)])


@op
def transpose(m):
    shape = m.shape(0, 5)
    perm = [int(a) for a in m.random.permutation(len(shape))]
    m.node("Transpose", [m.operand(shape, m.type())], **({"perm": perm} if m.chance(0.8) and perm else {}))


@op
def expand(m):
    whole, part = pair(m)
    target = [1 if m.chance(0.2) else n for n in part]
    if m.chance(0.1) and target:
        target[0] = m.number(1, 5)
    m.node("Expand", [m.operand(whole, m.type()), m.ints(target)])


@op
def concat(m):
    shape = m.shape(1, 4)
    axis, parts, dtype = m.number(-len(shape), len(shape) - 1), [], m.type()
    for _ in range(m.pick([1, 2, 3, 20])):
        part = list(shape)
        part[axis] = m.number(0 if m.chance(0.1) else 1, 3)
        parts.append(m.operand(part, dtype))
    m.node("Concat", parts, axis=axis)


@op
def split(m):
    shape = m.shape(1, 4, 7)
    axis = m.number(-len(shape), len(shape) - 1)
    n, dtype = shape[axis], m.pick([np.float32, np.float64, np.int32, np.int64, np.uint8])
    x = m.operand(shape, dtype)
    if m.chance(0.5):
        cuts = sorted(m.number(0, n) for _ in range(m.number(0, 3)))
        sizes = np.diff([0, *cuts, n]).tolist()
        return m.node("Split", [x, m.ints(sizes)], len(sizes), axis=axis)
    parts = m.number(1, max(n, 1))
    if m.opset >= 18:
        return m.node("Split", [x], parts, axis=axis, num_outputs=parts)
    parts = m.pick([d for d in range(1, max(n, 1) + 1) if n % d == 0])
    m.node("Split", [x], parts, axis=axis)


@op
def slice_(m):
    shape = m.shape(1, 4, 7)
    far = [2**63 - 1, -(2**63), 2**31 - 1, -(2**31), 2**62, -(2**63) + 1]
    axes = m.random.permutation(len(shape))[: m.number(1, len(shape))]
    at = lambda: m.pick(far) if m.chance(0.25) else m.number(-9, 9)  # noqa: E731
    starts, ends = [at() for _ in axes], [at() for _ in axes]
    steps = [m.pick([1, 1, 1, 2, 3, -1, -2, -3, 2**31, -(2**31), 2**63 - 1, -(2**63) + 1]) if m.chance(0.6) else 1 for _ in axes]
    # Back to the largest number: by ONNX's rules nothing is left, by onnxruntime everything.
    ends = [-(2**63) if step < 0 and end in (2**63 - 1, 2**31 - 1) else end for end, step in zip(ends, steps)]
    kind = m.pick([np.int64, np.int64, np.int32])
    if kind == np.int32:
        ends = [-(2**63) if step < 0 and end > 2**31 else end for end, step in zip(ends, steps)]
    clipped = lambda v: np.clip(v, np.iinfo(kind).min, np.iinfo(kind).max).astype(kind)  # noqa: E731
    inputs = [m.operand(shape, m.pick([np.float32, np.float64, np.int32, np.int64, np.uint8])), m.known(clipped(starts)), m.known(clipped(ends))]
    if m.chance(0.8):
        inputs.append(m.known(clipped([int(a) - (len(shape) if m.chance(0.3) else 0) for a in axes])))
        if m.chance(0.8):
            inputs.append(m.known(clipped(steps)))
    m.node("Slice", inputs)


@op
def pad(m):
    shape = m.shape(1, 4)
    dtype = m.pick([np.float32, np.float64, np.int32, np.int64, np.uint8])
    axes = list(range(len(shape)))
    inputs = [m.operand(shape, dtype)]
    some = [int(a) for a in m.random.permutation(axes)[: m.number(1, len(axes))]] if m.opset >= 18 and m.chance(0.4) else axes
    low = -2 if m.chance(0.3) else 0
    inputs.append(m.ints([m.number(low, 3) for _ in range(2 * len(some))]))
    value = m.chance(0.6)
    inputs.append(m.known(m.array((), dtype, 0, 5)) if value else "")
    if some is not axes:
        inputs.append(m.ints([a - (len(shape) if m.chance(0.3) else 0) for a in some]))
    while inputs[-1] == "":
        inputs.pop()
    m.node("Pad", inputs, mode="constant" if m.chance(0.9) else m.pick(["reflect", "edge"]))


@op
def tile(m):
    shape = m.shape(0, 4)
    low = 0 if m.chance(0.1) else 1
    m.node("Tile", [m.operand(shape, m.pick([np.float32, np.float64, np.int32, np.int64, np.uint8])), m.ints([m.number(low, 3) for _ in shape])])


def indices(m, shape, size):
    dtype = np.dtype(m.pick([np.int64, np.int32]))
    return m.array(shape, dtype, -size if m.chance(0.5) else 0, size - 1) if size else np.zeros(shape, dtype)


def given(m, value):
    return m.input(value) if m.chance(0.6) or m.named is not None else m.known(value)


@op
def gather(m):
    shape = tuple(max(n, 1) for n in m.shape(1, 4))
    axis = m.number(-len(shape), len(shape) - 1)
    m.node("Gather", [m.operand(shape, m.type()), given(m, indices(m, m.shape(0, 2), shape[axis]))], axis=axis)


@op
def gather_elements(m):
    shape = tuple(max(n, 1) for n in m.shape(1, 4))
    axis = m.number(-len(shape), len(shape) - 1)
    at = [m.number(1, n) if m.chance(0.5) else n for n in shape]
    at[axis] = m.number(1, 4)
    m.node("GatherElements", [m.operand(shape, m.type()), given(m, indices(m, at, shape[axis]))], axis=axis)


def positions(m, shape, depth, unique=False):
    """[..., depth] indices into the first axes."""
    rows = m.shape(1, 2, 3)
    values = np.stack([indices(m, rows, n).astype(np.int64) for n in shape[:depth]], -1)
    if unique:
        all_ = np.stack(np.meshgrid(*[np.arange(n) for n in shape[:depth]], indexing="ij"), -1).reshape(-1, depth)
        count = min(m.number(1, 5), len(all_))
        values = all_[m.random.permutation(len(all_))[:count]]
        values = np.where(m.random.random(values.shape) < 0.3, values - np.array(shape[:depth]), values)
    return values.astype(np.int64)


@op
def gather_nd(m):
    shape = tuple(max(n, 1) for n in m.shape(1, 4))
    at = positions(m, shape, m.number(1, len(shape)))
    m.node("GatherND", [m.operand(shape, m.pick([np.float32, np.float64, np.int64, np.int32])), given(m, at)])


@op
def scatter_nd(m):
    shape = tuple(max(n, 1) for n in m.shape(1, 4))
    depth = m.number(1, len(shape))
    add = m.opset >= 16 and m.chance(0.5)
    at = positions(m, shape, depth, not add)
    dtype = m.pick([np.float32, np.float64, np.int64, np.int32])
    updates = m.operand(at.shape[:-1] + shape[depth:], dtype)
    m.node("ScatterND", [m.operand(shape, dtype), given(m, at), updates], **({"reduction": "add"} if add else {}))


@op
def one_hot(m):
    shape, depth = m.shape(1, 3), m.number(1, 5)
    kind = m.pick([np.int64, np.int32, np.float32])
    at = m.array(shape, np.int64, -depth - 1, depth).astype(kind)
    dtype = m.pick([np.float32, np.int64, np.int32])
    values = m.array((2,), dtype, -5, 5)
    size = np.asarray(depth if m.chance(0.5) else [depth], np.int64)
    m.node("OneHot", [given(m, at), m.known(size), given(m, values)], **({"axis": m.number(-len(shape) - 1, len(shape))} if m.chance(0.7) else {}))


@op
def trilu(m):
    m.opset = max(m.opset, 14)
    shape = m.shape(2, 4)
    inputs = [m.operand(shape, m.pick([np.float32, np.float64, np.int64]))]
    if m.chance(0.7):
        inputs.append(m.ints(m.number(-6, 6)))
    m.node("Trilu", inputs, upper=m.number(0, 1))


@op
def det(m):
    n = m.number(1, 4)
    m.special, m.looser = False, 10.0
    m.node("Det", [m.operand((*m.shape(0, 2), n, n), np.float32)])


@op
def constant_of_shape(m):
    dtype = np.dtype(m.pick([np.float32, np.float64, np.int64, np.int32, np.uint8, bool]))
    value = m.array((1,), dtype)
    if dtype == np.int64 and m.chance(0.5):
        value = np.array([m.pick([2**63 - 1, 2**53 + 1, -(2**63)])])
    attributes = {"value": numpy_helper.from_array(value)} if m.chance(0.8) else {}
    m.node("ConstantOfShape", [m.ints(list(m.shape(0, 4)))], **attributes)


@op
def range_(m):
    way = m.pick([np.int64, np.int32])
    big = m.pick([0, 0, 2**40 + 1 if way == np.int64 else 2**30])  # onnxruntime counts in double
    start, delta = m.number(-5, 5) + big, m.pick([1, 2, 3, -1, -2])
    limit = start + delta * m.number(-1, 6) + m.number(-1, 1)
    m.node("Range", [m.known(np.asarray(v, way)) for v in (start, limit, delta)])


@op
def dropout(m):
    inputs = [m.operand(m.shape(), np.float32)]
    if m.chance(0.5):
        inputs.append(m.known(np.float32(0.0 if m.chance(0.7) else 0.5)))
        if m.chance(0.5):
            inputs.append(m.known(np.asarray(m.chance(0.3))))
            m.lenient = True
    m.node("Dropout", inputs, 1)


# Neural networks.
@op
def matmul(m):
    k, dtype = m.number(1, 6), m.pick([np.float32, np.float64, np.int32, np.int64])
    batch, other = pair(m) if m.chance(0.5) else ((), ())
    if 0 in batch or 0 in other:  # of nothing, onnxruntime refuses what ONNX has, or gives what memory held
        batch = other = ()
    a = (*batch[:3], m.number(1, 5), k) if m.chance(0.8) else (k,)
    b = (*other[:3], k, m.number(1, 5)) if m.chance(0.8) else (k,)
    m.special = False
    m.node("MatMul", [m.operand(a, dtype), m.operand(b, dtype)])


@op
def gemm(m):
    i, j, k = m.number(1, 5), m.number(1, 5), m.number(1, 6)
    ta, tb = m.number(0, 1), m.number(0, 1)
    dtype = m.pick([np.float32, np.float64])
    m.special = False
    inputs = [m.operand((k, i) if ta else (i, k), dtype), m.operand((j, k) if tb else (k, j), dtype)]
    if m.chance(0.7):
        inputs.append(m.operand(m.pick([(i, j), (1, j), (j,), (i, 1), (1,), ()]), dtype))
    attributes = {"alpha": 0.5, "beta": m.pick([0.0, 1.0, 2.0])} if m.chance(0.5) else {}
    m.node("Gemm", inputs, transA=ta, transB=tb, **attributes)


@op
def einsum(m):
    sizes = {c: m.number(1, 4) for c in "abcde"}
    equation = m.pick(["ab,bc->ac", "abc,acd->abd", "ab,ab->", "ab->ba", "abc->b", "ab,b->a", "a,b->ab", "ab,cb->ac", "abcd,abed->abce", "ab , bc", "ba", "aa->a", "abc,abc->c", "ab,bc,cd->ad"])
    m.special = False
    terms = equation.split("->")[0].replace(" ", "").split(",")
    m.node("Einsum", [m.operand(tuple(sizes[c] for c in t), np.float32) for t in terms], equation=equation)


def image(m, channels=None):
    axes = 2 if m.chance(0.75) else 1
    return (m.number(1, 2), channels or m.number(1, 4), *(m.number(3, 9) for _ in range(axes)))


def window(m, axes, size):
    """Attributes of a sliding window."""
    attributes = {}
    if m.chance(0.6):
        attributes["strides"] = [m.number(1, 3) for _ in range(axes)]
    way = m.random.random()
    if way < 0.4:
        attributes["pads"] = [m.number(0, size[i % axes] - 1) for i in range(2 * axes)]
    elif way < 0.7:
        attributes["auto_pad"] = m.pick(["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
        # A window that leaves gaps has paddings below 0 in onnxruntime, which refuses them or begins elsewhere.
        attributes["strides"] = [min(a, b) for a, b in zip(attributes.get("strides", [1] * axes), size)]
    return attributes


@op
def conv(m):
    groups = m.pick([1, 1, 2])
    cin, cout = groups * m.number(1, 3), groups * m.number(1, 3)
    x = image(m, cin)
    size = [m.number(1, 3) for _ in x[2:]]
    attributes = window(m, len(size), size)
    if m.chance(0.3):
        attributes["dilations"] = [m.number(1, 2) for _ in size]
    if m.chance(0.5):
        attributes["kernel_shape"] = size
    m.special, dtype = False, np.float32
    inputs = [m.operand(x, dtype), m.weight((cout, cin // groups, *size))]
    if m.chance(0.5):
        inputs.append(m.weight((cout,)))
    m.node("Conv", inputs, group=groups, **attributes)


@op
def conv_transpose(m):
    groups = m.pick([1, 1, 2])
    cin, cout = groups * m.number(1, 3), groups * m.number(1, 3)
    x = image(m, cin)
    size = [m.number(1, 3) for _ in x[2:]]
    stride = [m.number(1, 3) for _ in size]
    attributes = {"strides": stride, "pads": [m.number(0, 1) if size[i % len(size)] > 1 else 0 for i in range(2 * len(size))]}
    if m.chance(0.3):
        attributes["dilations"] = [m.number(1, 2) for _ in size]
    if m.chance(0.3):
        attributes["output_padding"] = [m.number(0, s - 1) for s in stride]
    m.special = False
    inputs = [m.operand(x, np.float32), m.weight((cin, cout // groups, *size))]
    if m.chance(0.5):
        inputs.append(m.weight((cout,)))
    m.node("ConvTranspose", inputs, group=groups, **attributes)


@several("MaxPool", "AveragePool")
def pool(m, name):
    x = image(m)
    size = [m.number(1, 3) for _ in x[2:]]
    attributes = window(m, len(size), size)
    if m.chance(0.3):
        attributes["ceil_mode"] = 1
        m.lenient = True  # onnxruntime infers other extents than it computes
    if name == "AveragePool" and m.chance(0.5):
        attributes["count_include_pad"] = 1
    m.special = False
    m.node(name, [m.operand(x, np.float32)], kernel_shape=size, **attributes)


@several("GlobalAveragePool", "GlobalMaxPool")
def global_pool(m, name):
    m.special = False
    m.node(name, [m.operand(image(m), np.float32)])


@several("BatchNormalization", "InstanceNormalization", "GroupNormalization", "LayerNormalization", "LRN")
def normalization(m, name):
    x = image(m)
    m.special, m.looser = False, 5.0
    attributes = {"epsilon": m.pick([1e-5, 1e-3, 0.1])} if m.chance(0.5) and name != "LRN" else {}
    vector = lambda n, low=-2.0: m.operand((n,), np.float32, low)  # noqa: E731
    if name == "BatchNormalization":
        x = m.pick([x, x[:2]])
        m.node(name, [m.operand(x, np.float32), vector(x[1]), vector(x[1]), vector(x[1]), vector(x[1], 0.1)], **attributes)
    elif name == "InstanceNormalization":
        m.node(name, [m.operand(x, np.float32), vector(x[1]), vector(x[1])], **attributes)
    elif name == "GroupNormalization":
        m.opset = 21
        groups = m.pick([g for g in range(1, x[1] + 1) if x[1] % g == 0])
        m.node(name, [m.operand(x, np.float32), vector(x[1]), vector(x[1])], num_groups=groups, **attributes)
    elif name == "LayerNormalization":
        m.opset = max(m.opset, 17)
        shape = tuple(max(n, 2) for n in m.shape(1, 4))
        axis = m.number(-len(shape), len(shape) - 1)
        scale = [m.operand(shape[axis:], np.float32) for _ in range(m.number(1, 2))]
        m.node(name, [m.operand(shape, np.float32), *scale], m.pick([1, 1, 3]), axis=axis, **attributes)
    else:
        if len(x) < 4:
            raise Unfit
        m.node(name, [m.operand(x, np.float32)], size=m.pick([1, 3, 5]), **({"alpha": 0.01, "beta": 0.5, "bias": 2.0} if m.chance(0.5) else {}))


@several("LSTM", "GRU", "RNN")
def recurrent(m, name):
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[name]
    time, batch, width, units = m.number(1, 4), m.number(1, 3), m.number(1, 3), m.number(1, 4)
    direction = m.pick(["forward", "reverse", "bidirectional"])
    d = 2 if direction == "bidirectional" else 1
    m.special, m.looser = False, 5.0
    if m.named is not None:  # only of the first two axes can it be known
        m.named = m.pick([time, batch])
        if m.named in (width, units, d):
            m.named = None
    inputs = [m.operand((time, batch, width)), m.weight((d, gates * units, width)), m.weight((d, gates * units, units))]
    inputs.append(m.weight((d, 2 * gates * units)) if m.chance(0.6) else "")
    inputs.append(given(m, m.array((batch,), np.int32, 1, time)) if m.chance(0.4) else "")
    inputs.append(m.operand((d, batch, units)) if m.chance(0.5) else "")
    if name == "LSTM":
        inputs.append(m.operand((d, batch, units)) if m.chance(0.5) else "")
        inputs.append(m.weight((d, 3 * units)) if m.chance(0.3) else "")
    while inputs[-1] == "":
        inputs.pop()
    attributes = {}
    if name == "GRU":
        attributes["linear_before_reset"] = m.number(0, 1)
    if m.chance(0.2):
        attributes["clip"] = 0.5
    m.node(name, inputs, m.number(1, 3 if name == "LSTM" else 2), hidden_size=units, direction=direction, **attributes)


# Branches and loops.
def float_info(name, shape=None):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


@op
def if_(m):
    shape = m.shape(0, 3)
    x, y = m.operand(shape), m.operand(shape)
    graphs = []
    for k in range(2):
        name = m.pick(["Add", "Mul", "Sub", "Max"])
        graphs.append(helper.make_graph([helper.make_node(name, [x, y], [f"b{k}"])], "b", [], [float_info(f"b{k}")]))
    condition = m.operand((), bool) if m.chance(0.7) else m.node("Less", [m.operand(()), m.operand(())])[0]
    m.node("If", [condition], then_branch=graphs[0], else_branch=graphs[1])


@op
def loop(m):
    shape, turns = m.shape(0, 2), m.number(0, 4)
    x, w = m.input(m.array(shape, np.float32)), m.operand(shape)
    early = m.chance(0.3)
    nodes = [helper.make_node(m.pick(["Add", "Sub", "Max"]), ["v", w], ["v2"])]
    nodes.append(helper.make_node("Less", ["i", "stop"], ["go2"]) if early else helper.make_node("Identity", ["go"], ["go2"]))
    outputs = [helper.make_tensor_value_info("go2", TensorProto.BOOL, []), float_info("v2")]
    collected = not early and m.chance(0.5)
    if collected:
        nodes.append(helper.make_node("Mul", ["v", "v"], ["row"]))
        outputs.append(float_info("row"))
    inner = [numpy_helper.from_array(np.asarray(m.number(0, 3), np.int64), "stop")] if early else []
    body = helper.make_graph(
        nodes, "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []), float_info("v", shape)],
        outputs, inner,
    )  # fmt: skip
    m.node("Loop", [m.ints(turns), m.known(np.asarray(True)), x], 2 if collected else 1, body=body)


# What a chain goes on with: (model, name, value) of what is there.
def further_unary(m, x, v):
    if v.dtype.kind != "f":
        return
    m.node(m.pick(["Neg", "Abs", "Tanh", "Sigmoid", "Relu", "Softsign", "Cosh" if np.abs(v).max(initial=0) < 5 else "Erf"]), [x])


def further_binary(m, x, v):
    if v.dtype == bool or v.dtype == np.float16 or v.dtype.itemsize == 1 or np.isnan(v).any():
        return
    other = m.operand(tuple(1 if m.chance(0.3) else n for n in v.shape), v.dtype)
    m.node(m.pick(["Add", "Sub", "Mul", "Max", "Min"]), [x, other] if m.chance(0.5) else [other, x])


def further_reduce(m, x, v):
    if v.dtype not in (np.float32, np.float64) or not v.size or not v.ndim or np.isnan(v).any():
        return
    axes = [m.number(-v.ndim, v.ndim - 1)]
    attributes, inputs = {"keepdims": m.number(0, 1)}, [x]
    name = m.pick(["ReduceSum", "ReduceMean", "ReduceMax", "ReduceL1"])
    if m.opset >= 18 or name == "ReduceSum":
        inputs.append(m.ints(axes))
    else:
        attributes["axes"] = axes
    m.node(name, inputs, **attributes)


def further_transpose(m, x, v):
    if v.ndim:
        m.node("Transpose", [x], perm=[int(a) for a in m.random.permutation(v.ndim)])


def further_reshape(m, x, v):
    m.node("Reshape", [x, m.ints(reshape_target(m, v.shape))])


def further_flat(m, x, v):
    m.node("Flatten", [x], axis=m.number(0, v.ndim))


def further_slice(m, x, v):
    if v.ndim:
        m.node("Slice", [x, m.ints([m.number(-3, 2)]), m.ints([m.pick([-1, 3, 2**63 - 1])]), m.ints([m.number(-v.ndim, v.ndim - 1)])])


def further_squeeze(m, x, v):
    m.node("Squeeze", [x]) if m.chance(0.5) else m.node("Unsqueeze", [x, m.ints([m.pick([0, -1])])])


def further_concat(m, x, v):
    if v.ndim:
        m.node("Concat", [x, m.operand(v.shape, v.dtype) if m.chance(0.5) else x], axis=m.number(-v.ndim, v.ndim - 1))


def further_cast(m, x, v):
    if v.dtype.kind in "biu":
        m.node("Cast", [x], to=TensorProto.FLOAT)


def further_matmul(m, x, v):
    if v.dtype == np.float32 and v.ndim >= 1 and v.size:
        m.node("MatMul", [x, m.operand((v.shape[-1], m.number(1, 4)))])


def further_softmax(m, x, v):
    if v.dtype == np.float32 and v.ndim and v.size:
        m.node("Softmax", [x], axis=m.number(-v.ndim, v.ndim - 1))


def further_shape(m, x, v):
    s = m.node("Shape", [x])[0]
    if v.ndim:
        m.node("Expand", [m.operand(()), s])


FURTHER = [
    further_unary, further_unary, further_binary, further_binary, further_reduce, further_transpose, further_reshape,
    further_flat, further_slice, further_squeeze, further_concat, further_cast, further_matmul, further_softmax, further_shape,
]  # fmt: skip
