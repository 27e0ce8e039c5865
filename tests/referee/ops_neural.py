"""Neural ops. NHWC images, HWIO filters; padding, pooling and LRN follow TensorFlow's rules."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
from jax import lax

from golden_writer import Array, Family, literal


def out_and_padding(size, window, stride, dilation, padding):
    """TensorFlow's rule: (output extent, before, after) of one axis."""
    span = (window - 1) * dilation + 1
    if padding == "same":
        out = -(-size // stride)
        total = max((out - 1) * stride + span - size, 0)
        return out, total // 2, total - total // 2
    before, after = padding if isinstance(padding, tuple) else (0, 0)
    return (size + before + after - span) // stride + 1, before, after


def per_axis(padding, axis):
    return padding if isinstance(padding, str) else padding[2 * axis : 2 * axis + 2]


def spatial(shape, window, strides, dilations, padding):
    return [out_and_padding(shape[i + 1], window[i], strides[i], dilations[i], per_axis(padding, i)) for i in (0, 1)]


def conv2d_loops(x, f, strides, dilations, padding, groups):
    (oh, top, bottom), (ow, left, right) = spatial(x.shape, f.shape, strides, dilations, padding)
    x = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
    kh, kw, ci, co = f.shape
    y = np.zeros((x.shape[0], oh, ow, co))
    for n, i, j, o in np.ndindex(y.shape):
        first = (o // (co // groups)) * ci  # of this group's input channels
        for u, v, c in np.ndindex(kh, kw, ci):
            y[n, i, j, o] += x[n, i * strides[0] + u * dilations[0], j * strides[1] + v * dilations[1],
                               first + c] * f[u, v, c, o]
    return y


def conv2d_jax(x, f, strides, dilations, padding, groups):
    pads = [pair[1:] for pair in spatial(x.shape, f.shape, strides, dilations, padding)]
    if isinstance(padding, str):
        pads = padding.upper()
    return lax.conv_general_dilated(x, f, strides, pads, rhs_dilation=dilations,
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                    feature_group_count=groups)


def conv2d_transpose_loops(x, f, size, strides, dilations, padding):
    """Every input element adds its multiple of the filter to the output."""
    kh, kw, co, _ = f.shape
    (oh, top, bottom), (ow, left, right) = spatial((0, *size, 0), f.shape, strides, dilations, padding)
    assert (oh, ow) == x.shape[1:3]
    y = np.zeros((x.shape[0], size[0] + top + bottom, size[1] + left + right, co))
    for n, i, j, c in np.ndindex(x.shape):
        for u, v in np.ndindex(kh, kw):
            y[n, i * strides[0] + u * dilations[0], j * strides[1] + v * dilations[1]] += x[n, i, j, c] * f[u, v, :, c]
    return y[:, top : top + size[0], left : left + size[1]]


def conv2d_transpose_jax(x, f, size, strides, dilations, padding):
    forward = lambda image: conv2d_jax(image, f, strides, dilations, padding, 1)
    image = jax.ShapeDtypeStruct((x.shape[0], *size, f.shape[2]), x.dtype)
    return jax.linear_transpose(forward, image)(x)[0]


def pool_loops(x, window, strides, padding, reduce):
    (oh, top, _), (ow, left, _) = spatial(x.shape, window, strides, (1, 1), padding)
    y = np.zeros((x.shape[0], oh, ow, x.shape[3]))
    for n, i, j, c in np.ndindex(y.shape):
        rows = range(max(i * strides[0] - top, 0), min(i * strides[0] - top + window[0], x.shape[1]))
        columns = range(max(j * strides[1] - left, 0), min(j * strides[1] - left + window[1], x.shape[2]))
        y[n, i, j, c] = reduce([x[n, u, v, c] for u in rows for v in columns])  # padding is not an element
    return y


def window_jax(x, init, fn, window, strides, padding):
    return lax.reduce_window(x, init, fn, (1, *window, 1), (1, *strides, 1), padding.upper())


def padding_attrs(padding):
    return {"padding": padding} if isinstance(padding, str) else {"padding": "explicit", "paddings": padding}


def neural() -> Family:
    family = Family("neural")
    case = family.case

    for label, shape, axis in (("rows", (2, 4), -1), ("columns", (3, 2), 0), ("cube", (2, 2, 3), -1),
                               ("middle", (2, 3, 2), 1),
                               ("vector", (5,), 0), ("size_one", (3, 1), -1)):
        x = lambda r: [r.floats(*shape)]
        case(f"softmax_{label}", "softmax", x, lambda x: jax.nn.softmax(x, axis),
             lambda x: scipy.special.softmax(x, axis), {"axis": axis})
        case(f"log_softmax_{label}", "log_softmax", x, lambda x: jax.nn.log_softmax(x, axis),
             lambda x: scipy.special.log_softmax(x, axis), {"axis": axis})
    large = lambda r: [literal([[1000, 1001, 998], [-1000, 0, 5]])]
    case("softmax_large", "softmax", large, jax.nn.softmax, lambda x: scipy.special.softmax(x, -1), {"axis": -1})
    case("log_softmax_large", "log_softmax", large, jax.nn.log_softmax, lambda x: scipy.special.log_softmax(x, -1),
         {"axis": -1})

    def dense(np_, log_softmax):
        return lambda logits, labels: -np_.sum(labels * log_softmax(logits, axis=-1), -1)

    def distribution(r, *shape):
        p = r.rng.uniform(0.1, 1, shape)
        return Array("f32", p / p.sum(-1, keepdims=True))

    for label, shape in (("rows", (3, 4)), ("one_row", (1, 3)), ("cube", (2, 2, 3)), ("vector", (4,))):
        # labels that sum to one: where they don't, frameworks differ in the gradient
        case(f"softmax_cross_entropy_dense_{label}", "softmax_cross_entropy_with_logits",
             lambda r: [r.floats(*shape), distribution(r, *shape)], dense(jnp, jax.nn.log_softmax),
             dense(np, scipy.special.log_softmax), grads=[0])

    def sparse(np_, log_softmax):
        return lambda logits, labels: -np_.take_along_axis(log_softmax(logits, axis=-1), labels[..., None], -1)[..., 0]

    for label, shape, dtype in (("rows", (3, 4), "i64"), ("i32_labels", (2, 3), "i32"), ("cube", (2, 2, 3), "i64"),
                                ("one_class", (2, 1), "i64")):
        case(f"softmax_cross_entropy_sparse_{label}", "sparse_softmax_cross_entropy_with_logits",
             lambda r: [r.floats(*shape), r.ints(*shape[:-1], lo=0, hi=shape[-1], dtype=dtype)],
             sparse(jnp, jax.nn.log_softmax),
             sparse(np, scipy.special.log_softmax))
    case("softmax_cross_entropy_sparse_large", "sparse_softmax_cross_entropy_with_logits",
         lambda r: [literal([[1000, 0, -1000], [90, -90, 0]]), literal([2, 0], "i64")], sparse(jnp, jax.nn.log_softmax),
         sparse(np, scipy.special.log_softmax))
    sigmoid_jax = lambda x, z: jnp.logaddexp(x, 0.0) - x * z
    sigmoid_np = lambda x, z: np.maximum(x, 0) - x * z + np.log1p(np.exp(-np.abs(x)))
    for label, shape in (("rows", (2, 3)), ("vector", (5,))):
        case(f"sigmoid_cross_entropy_{label}", "sigmoid_cross_entropy_with_logits",
             lambda r: [r.floats(*shape, lo=-4, hi=4), r.floats(*shape, lo=0, hi=1)], sigmoid_jax, sigmoid_np,
             grads=[0])
    case("sigmoid_cross_entropy_large", "sigmoid_cross_entropy_with_logits",
         lambda r: [literal([100, -100, 60, -60]), literal([0, 1, 1, 0])], sigmoid_jax, sigmoid_np, grads=[0])

    for shape in ((3, 4), (1, 2, 2, 3), (2, 1)):
        case(f"bias_add_{'x'.join(map(str, shape))}", "bias_add", lambda r: [r.floats(*shape), r.floats(shape[-1])],
             jnp.add, np.add)

    # name, image, filter HWIO, strides, dilations, padding, groups
    convolutions = [
        ("1x1", (1, 2, 3, 2), (1, 1, 2, 3), (1, 1), (1, 1), "valid", 1),
        ("3x3_valid", (1, 4, 5, 1), (3, 3, 1, 2), (1, 1), (1, 1), "valid", 1),
        ("3x3_same", (1, 3, 4, 1), (3, 3, 1, 2), (1, 1), (1, 1), "same", 1),
        ("2x2_same_even_filter", (1, 3, 3, 1), (2, 2, 1, 1), (1, 1), (1, 1), "same", 1),
        ("same_stride_2_even_image", (1, 4, 4, 1), (3, 3, 1, 1), (2, 2), (1, 1), "same", 1),
        ("same_stride_2_odd_image", (1, 5, 5, 1), (3, 3, 1, 1), (2, 2), (1, 1), "same", 1),
        ("same_stride_3_filter_2", (1, 5, 4, 1), (2, 2, 1, 1), (3, 3), (1, 1), "same", 1),
        ("valid_stride_2", (1, 5, 6, 1), (2, 3, 1, 2), (2, 2), (1, 1), "valid", 1),
        ("stride_1_by_2", (1, 3, 5, 1), (2, 2, 1, 2), (1, 2), (1, 1), "valid", 1),
        ("dilated_valid", (1, 5, 5, 1), (2, 2, 1, 1), (1, 1), (2, 3), "valid", 1),
        ("dilated_same", (1, 5, 4, 1), (3, 3, 1, 1), (1, 1), (2, 2), "same", 1),
        ("dilated_strided_explicit", (1, 5, 5, 1), (2, 2, 1, 1), (2, 2), (2, 2), (1, 1, 0, 1), 1),
        ("explicit_uneven", (1, 3, 3, 1), (2, 2, 1, 2), (1, 1), (1, 1), (1, 0, 2, 1), 1),
        ("explicit_stride", (1, 4, 4, 1), (3, 3, 1, 1), (2, 2), (1, 1), (1, 1, 1, 1), 1),
        ("two_images_two_channels", (2, 3, 3, 2), (2, 2, 2, 1), (1, 1), (1, 1), "valid", 1),
        ("groups_2", (1, 3, 3, 4), (2, 2, 2, 2), (1, 1), (1, 1), "valid", 2),
        ("groups_2_more_outputs", (1, 2, 3, 2), (2, 2, 1, 4), (1, 1), (1, 1), "same", 2),
        ("groups_3_strided", (1, 3, 3, 3), (2, 2, 1, 3), (2, 2), (1, 1), "same", 3),
        ("filter_as_large_as_image", (1, 3, 2, 2), (3, 2, 2, 2), (1, 1), (1, 1), "valid", 1),
        ("size_one_image", (1, 1, 1, 2), (3, 3, 2, 1), (1, 1), (1, 1), "same", 1),
    ]
    for name, image, filters, strides, dilations, padding, groups in convolutions:
        how = (strides, dilations, padding, groups)
        case(f"conv2d_{name}", "conv2d", lambda r: [r.floats(*image), r.floats(*filters)],
             lambda x, f: conv2d_jax(x, f, *how), lambda x, f: conv2d_loops(x, f, *how),
             {"strides": strides, "dilations": dilations, **padding_attrs(padding), "groups": groups})

    # name, input, filter H W output-channels input-channels, size of the output, strides, dilations, padding
    transposed = [
        ("valid", (1, 2, 3, 1), (2, 2, 2, 1), (3, 4), (1, 1), (1, 1), "valid"),
        ("same", (1, 3, 3, 1), (3, 3, 1, 1), (3, 3), (1, 1), (1, 1), "same"),
        ("same_stride_2", (1, 2, 2, 2), (3, 3, 1, 2), (4, 4), (2, 2), (1, 1), "same"),
        ("same_stride_2_odd_output", (1, 2, 3, 1), (3, 3, 1, 1), (3, 5), (2, 2), (1, 1), "same"),
        ("valid_stride_2", (1, 2, 2, 1), (3, 2, 2, 1), (5, 4), (2, 2), (1, 1), "valid"),
        ("stride_beyond_filter", (1, 2, 2, 1), (1, 2, 1, 1), (4, 6), (2, 3), (1, 1), "same"),
        ("explicit", (1, 2, 2, 1), (3, 3, 1, 1), (3, 3), (2, 2), (1, 1), (1, 1, 1, 1)),
        ("dilated", (1, 2, 2, 1), (2, 2, 1, 1), (4, 4), (1, 1), (2, 2), "valid"),
        ("two_images", (2, 1, 2, 2), (2, 2, 1, 2), (2, 3), (1, 1), (1, 1), "valid"),
    ]
    for name, image, filters, size, strides, dilations, padding in transposed:
        how = (size, strides, dilations, padding)
        case(f"conv2d_transpose_{name}", "conv2d_transpose", lambda r: [r.floats(*image), r.floats(*filters)],
             lambda x, f: conv2d_transpose_jax(x, f, *how), lambda x, f: conv2d_transpose_loops(x, f, *how),
             {"output_size": size, "strides": strides, "dilations": dilations, **padding_attrs(padding)})

    # name, image, filter H W C multiplier, strides, dilations, padding
    depthwise = [
        ("valid", (1, 3, 3, 2), (2, 2, 2, 1), (1, 1), (1, 1), "valid"),
        ("same", (1, 3, 2, 2), (3, 3, 2, 1), (1, 1), (1, 1), "same"),
        ("multiplier_2", (1, 3, 3, 2), (2, 2, 2, 2), (1, 1), (1, 1), "valid"),
        ("multiplier_3_one_channel", (1, 2, 3, 1), (2, 2, 1, 3), (1, 1), (1, 1), "valid"),
        ("stride_2", (1, 4, 5, 2), (3, 3, 2, 1), (2, 2), (1, 1), "same"),
        ("dilated", (1, 4, 4, 1), (2, 2, 1, 2), (1, 1), (2, 2), "valid"),
        ("explicit", (1, 3, 3, 1), (2, 2, 1, 1), (1, 1), (1, 1), (1, 0, 0, 1)),
    ]
    for name, image, filters, strides, dilations, padding in depthwise:
        kh, kw, c, m = filters
        how = (strides, dilations, padding, c)
        as_grouped = lambda f: f.reshape(kh, kw, 1, c * m)

        def channel_by_channel(x, f):
            parts = [conv2d_loops(x[..., i : i + 1], f[:, :, i : i + 1, :], strides, dilations, padding,
                                  1) for i in range(c)]
            return np.concatenate(parts, -1)

        case(f"depthwise_conv2d_{name}", "depthwise_conv2d", lambda r: [r.floats(*image), r.floats(*filters)],
             lambda x, f: conv2d_jax(x, as_grouped(f), *how), channel_by_channel,
             {"strides": strides, "dilations": dilations, **padding_attrs(padding)})

    pools = [
        ("2x2_valid", (1, 4, 4, 1), (2, 2), (2, 2), "valid"), ("3x3_stride_2_valid", (1, 5, 5, 1), (3, 3), (2, 2),
                                                               "valid"),
        ("3x3_stride_2_same", (1, 5, 4, 1), (3, 3), (2, 2), "same"),
        ("2x2_same_odd", (1, 3, 3, 2), (2, 2), (2, 2), "same"),
        ("3x3_stride_1_same", (1, 3, 3, 1), (3, 3), (1, 1), "same"), ("1_by_3", (1, 2, 5, 1), (1, 3), (1, 2), "valid"),
        ("two_images", (2, 2, 2, 2), (2, 2), (2, 2), "valid"), ("size_one", (1, 2, 2, 1), (1, 1), (1, 1), "valid"),
        ("stride_beyond_window", (1, 5, 5, 1), (2, 2), (3, 3), "same"),
        ("whole_image", (1, 3, 2, 2), (3, 2), (1, 1), "valid"),
    ]
    for name, image, window, strides, padding in pools:
        attrs = {"window": window, "strides": strides, "padding": padding}
        case(f"max_pool_{name}", "max_pool", lambda r: [r.distinct(*image)],
             lambda x: window_jax(x, -jnp.inf, lax.max, window, strides, padding),
             lambda x: pool_loops(x, window, strides, padding, max), attrs)
        case(f"avg_pool_{name}", "avg_pool", lambda r: [r.floats(*image)],
             lambda x: window_jax(x, 0.0, lax.add, window, strides, padding)
             / window_jax(jnp.ones_like(x), 0.0, lax.add, window, strides, padding),
             lambda x: pool_loops(x, window, strides, padding, np.mean), attrs)
    case("max_pool_negative_same", "max_pool", lambda r: [Array("f32", r.distinct(1, 3, 3, 1).values - 5)],
         lambda x: window_jax(x, -jnp.inf, lax.max, (2, 2), (1, 1), "same"),
         lambda x: pool_loops(x, (2, 2), (1, 1), "same", max),
         {"window": (2, 2), "strides": (1, 1), "padding": "same"})

    # x / (bias + alpha * sum of squares over channels c-radius..c+radius) ^ beta
    for name, shape, radius, bias, alpha, beta in (("alexnet", (1, 1, 2, 6), 2, 2.0, 1e-4, 0.75),
                                                   ("defaults", (1, 2, 1, 5), 5, 1.0, 1.0, 0.5),
                                                   ("radius_1", (2, 1, 1, 5), 1, 1.0, 0.5, 0.75),
                                                   ("radius_0", (1, 1, 2, 3), 0, 1.5, 0.7, 1.0),
                                                   ("one_channel", (1, 2, 2, 1), 2, 1.0, 1.0, 0.5)):
        def lrn_loops(x):
            y = np.zeros_like(x)
            for at in np.ndindex(x.shape):
                c = at[-1]
                near = x[at[:-1]][max(c - radius, 0) : c + radius + 1]
                y[at] = x[at] / (bias + alpha * np.sum(near**2)) ** beta
            return y

        def lrn_jax(x):
            squares = lax.reduce_window(x * x, 0.0, lax.add, (1, 1, 1, 2 * radius + 1), (1, 1, 1, 1),
                                        ((0, 0), (0, 0), (0, 0), (radius, radius)))
            return x * (bias + alpha * squares) ** -beta

        case(f"local_response_normalization_{name}", "local_response_normalization", lambda r: [r.floats(*shape)],
             lrn_jax, lrn_loops,
             {"depth_radius": radius, "bias": bias, "alpha": alpha, "beta": beta})

    # batch_norm, training 1: in x scale offset, out y and the batch's mean and (biased) variance
    #             training 0: in x scale offset mean variance, out y
    def batch_norm(np_, epsilon):
        def training(x, scale, offset):
            axes = tuple(range(x.ndim - 1))
            mean, variance = np_.mean(x, axes), np_.var(x, axes)
            return (x - mean) / np_.sqrt(variance + epsilon) * scale + offset, mean, variance

        def inference(x, scale, offset, mean, variance):
            return (x - mean) / np_.sqrt(variance + epsilon) * scale + offset

        return inference, training

    for label, shape, epsilon in (("matrix", (4, 3), 1e-3), ("image", (2, 2, 2, 2), 1e-5), ("odd", (5, 1), 1e-3),
                                  ("one_channel_image", (1, 3, 3, 1), 1e-2)):
        inference, training = batch_norm(jnp, epsilon)
        inference_np, training_np = batch_norm(np, epsilon)
        affine = lambda r: [r.floats(*shape), r.floats(shape[-1]), r.floats(shape[-1])]
        case(f"batch_norm_training_{label}", "batch_norm", affine, training, training_np,
             {"training": 1, "epsilon": epsilon})
        case(f"batch_norm_inference_{label}", "batch_norm", lambda r: affine(r) + [r.floats(shape[-1]),
                                                                                   r.positive(shape[-1])],
             inference, inference_np, {"training": 0, "epsilon": epsilon}, grads=[0, 1, 2])

    # over the axes from `axis` to the last
    def layer_norm(np_, axis, epsilon):
        def f(x, scale, offset):
            axes = tuple(range(axis % x.ndim, x.ndim))
            mean, variance = np_.mean(x, axes, keepdims=True), np_.var(x, axes, keepdims=True)
            return (x - mean) / np_.sqrt(variance + epsilon) * scale + offset

        return f

    for label, shape, axis, epsilon in (("rows", (2, 4), -1, 1e-5), ("sequence", (2, 2, 3), -1, 1e-3),
                                        ("two_axes", (2, 2, 3), 1, 1e-5),
                                        ("vector", (7,), -1, 1e-5)):
        affine = lambda r: [r.floats(*shape), r.floats(*shape[axis:]), r.floats(*shape[axis:])]
        case(f"layer_norm_{label}", "layer_norm", affine, layer_norm(jnp, axis, epsilon), layer_norm(np, axis, epsilon),
             {"axis": axis, "epsilon": epsilon})

    for label, table, ids, dtype in (("vector", (5, 3), [4, 0, 4], "i64"), ("matrix", (4, 2), [[1, 3], [1, 0]], "i64"),
                                     ("i32", (3, 2), [2, 2, 2], "i32"), ("one", (6, 2), [5], "i64"),
                                     ("width_one", (4, 1), [0, 3], "i64")):
        case(f"embedding_lookup_{label}", "embedding_lookup", lambda r: [r.floats(*table), literal(ids, dtype)],
             lambda t, i: jnp.take(t, i, 0, mode="clip"), lambda t, i: t[i])

    for shape in ((5,), (2, 3)):
        label = "x".join(map(str, shape))
        case(f"l2_loss_{label}", "l2_loss", lambda r: [r.floats(*shape)], lambda x: jnp.sum(x * x) / 2,
             lambda x: np.sum(x * x) / 2)
        case(f"mse_{label}", "mse", lambda r: [r.floats(*shape), r.floats(*shape)], lambda p, t: jnp.mean((p - t) ** 2),
             lambda p, t: np.mean((p - t) ** 2))
        for delta in (1.0, 0.5):
            case(f"huber_{label}_{delta}", "huber", lambda r: [r.floats(*shape), r.floats(*shape)],
                 lambda p, t: jnp.mean(jnp.where(jnp.abs(p - t) <= delta, 0.5 * (p - t) ** 2,
                                                 delta * (jnp.abs(p - t) - delta / 2))),
                 lambda p, t: np.mean(scipy.special.huber(delta, p - t)), {"delta": delta})
    case("dropout_rate_zero", "dropout", lambda r: [r.floats(2, 3)], lambda x: x * 1.0, lambda x: x, {"rate": 0.0})
    return family
