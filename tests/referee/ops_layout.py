"""Images in the layout [batch, channels, height, width]; filters stay HWIO. JAX computes in that layout, the NumPy loops
on images with their channels moved last."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from golden_writer import Family
from ops_neural import conv2d_loops, conv2d_transpose_loops, padding_attrs, pool_loops, spatial

LAYOUT = {"layout": "nchw"}


def last(x):
    return np.moveaxis(x, 1, -1)


def first(y):
    return np.moveaxis(y, -1, 1)


def conv2d_jax(x, f, strides, dilations, padding, groups):
    shape = (x.shape[0], *x.shape[2:], x.shape[1])
    pads = [pair[1:] for pair in spatial(shape, f.shape, strides, dilations, padding)]
    return lax.conv_general_dilated(x, f, strides, pads, rhs_dilation=dilations,
                                    dimension_numbers=("NCHW", "HWIO", "NCHW"), feature_group_count=groups)


def conv2d_transpose_jax(x, f, size, strides, dilations, padding):
    forward = lambda image: conv2d_jax(image, f, strides, dilations, padding, 1)
    image = jax.ShapeDtypeStruct((x.shape[0], f.shape[2], *size), x.dtype)
    return jax.linear_transpose(forward, image)(x)[0]


def window_jax(x, init, fn, window, strides, padding):
    return lax.reduce_window(x, init, fn, (1, 1, *window), (1, 1, *strides), padding.upper())


def layout() -> Family:
    family = Family("layout")
    case = family.case

    # name, image, filter HWIO, strides, dilations, padding, groups
    for name, image, filters, strides, dilations, padding, groups in (
        ("3x3_same", (1, 2, 3, 4), (3, 3, 2, 3), (1, 1), (1, 1), "same", 1),
        ("1x1", (2, 3, 1, 2), (1, 1, 3, 2), (1, 1), (1, 1), "valid", 1),
        ("strided", (1, 2, 5, 4), (3, 2, 2, 2), (2, 1), (1, 1), "valid", 1),
        ("dilated_explicit", (1, 1, 5, 4), (2, 2, 1, 2), (1, 1), (2, 1), (1, 0, 0, 1), 1),
        ("groups", (1, 4, 3, 2), (2, 2, 2, 2), (1, 1), (1, 1), "same", 2),
    ):
        how = (strides, dilations, padding, groups)
        case(f"nchw_conv2d_{name}", "conv2d", lambda r: [r.floats(*image), r.floats(*filters)],
             lambda x, f: conv2d_jax(x, f, *how), lambda x, f: first(conv2d_loops(last(x), f, *how)),
             {**LAYOUT, "strides": strides, "dilations": dilations, **padding_attrs(padding), "groups": groups})

    for name, image, filters, size, strides, padding in (
        ("same_stride_2", (1, 2, 2, 3), (3, 3, 1, 2), (4, 5), (2, 2), "same"),
        ("valid", (2, 1, 2, 1), (2, 2, 2, 1), (3, 2), (1, 1), "valid"),
    ):
        how = (size, strides, (1, 1), padding)
        case(f"nchw_conv2d_transpose_{name}", "conv2d_transpose", lambda r: [r.floats(*image), r.floats(*filters)],
             lambda x, f: conv2d_transpose_jax(x, f, *how), lambda x, f: first(conv2d_transpose_loops(last(x), f, *how)),
             {**LAYOUT, "output_size": size, "strides": strides, "dilations": (1, 1), **padding_attrs(padding)})

    for name, image, filters, strides, padding in (("same", (1, 2, 3, 2), (3, 3, 2, 1), (1, 1), "same"),
                                                   ("multiplier_2_strided", (2, 3, 3, 4), (2, 2, 3, 2), (2, 2),
                                                    "valid")):
        kh, kw, c, m = filters
        as_grouped = lambda f: f.reshape(kh, kw, 1, c * m)
        how = (strides, (1, 1), padding, c)
        case(f"nchw_depthwise_conv2d_{name}", "depthwise_conv2d", lambda r: [r.floats(*image), r.floats(*filters)],
             lambda x, f: conv2d_jax(x, as_grouped(f), *how),
             lambda x, f: first(conv2d_loops(last(x), as_grouped(f), *how)),
             {**LAYOUT, "strides": strides, "dilations": (1, 1), **padding_attrs(padding)})

    for name, image, window, strides, padding in (("2x2", (1, 2, 4, 4), (2, 2), (2, 2), "valid"),
                                                  ("3x3_stride_2_same", (2, 3, 5, 4), (3, 3), (2, 2), "same"),
                                                  ("1_by_3", (1, 1, 2, 5), (1, 3), (1, 2), "valid")):
        attrs = {**LAYOUT, "window": window, "strides": strides, "padding": padding}
        case(f"nchw_max_pool_{name}", "max_pool", lambda r: [r.distinct(*image)],
             lambda x: window_jax(x, -jnp.inf, lax.max, window, strides, padding),
             lambda x: first(pool_loops(last(x), window, strides, padding, max)), attrs)
        case(f"nchw_avg_pool_{name}", "avg_pool", lambda r: [r.floats(*image)],
             lambda x: window_jax(x, 0.0, lax.add, window, strides, padding)
             / window_jax(jnp.ones_like(x), 0.0, lax.add, window, strides, padding),
             lambda x: first(pool_loops(last(x), window, strides, padding, np.mean)), attrs)

    for shape in ((2, 3, 2, 1), (1, 2, 3, 4), (4, 3)):
        column = (-1, *[1] * (len(shape) - 2))
        case(f"nchw_bias_add_{'x'.join(map(str, shape))}", "bias_add",
             lambda r: [r.floats(*shape), r.floats(shape[1])], lambda x, b: x + b.reshape(column),
             lambda x, b: x + b.reshape(column), LAYOUT)

    def batch_norm(np_, epsilon):
        def over(v, x):
            return v.reshape(1, -1, *[1] * (x.ndim - 2))

        def training(x, scale, offset):
            axes = (0, *range(2, x.ndim))
            mean, variance = np_.mean(x, axes), np_.var(x, axes)
            return ((x - over(mean, x)) / np_.sqrt(over(variance, x) + epsilon) * over(scale, x) + over(offset, x), mean,
                    variance)

        def inference(x, scale, offset, mean, variance):
            return (x - over(mean, x)) / np_.sqrt(over(variance, x) + epsilon) * over(scale, x) + over(offset, x)

        return inference, training

    for label, shape, epsilon in (("image", (2, 3, 2, 2), 1e-3), ("one_channel", (1, 1, 3, 3), 1e-2)):
        inference, training = batch_norm(jnp, epsilon)
        inference_np, training_np = batch_norm(np, epsilon)
        affine = lambda r: [r.floats(*shape), r.floats(shape[1]), r.floats(shape[1])]
        case(f"nchw_batch_norm_training_{label}", "batch_norm", affine, training, training_np,
             {**LAYOUT, "training": 1, "epsilon": epsilon})
        case(f"nchw_batch_norm_inference_{label}", "batch_norm",
             lambda r: affine(r) + [r.floats(shape[1]), r.positive(shape[1])], inference, inference_np,
             {**LAYOUT, "training": 0, "epsilon": epsilon}, grads=[0, 1, 2])

    for name, shape, radius, bias, alpha, beta in (("alexnet", (1, 6, 1, 2), 2, 2.0, 1e-4, 0.75),
                                                   ("radius_1", (2, 5, 2, 1), 1, 1.0, 0.5, 0.75)):
        def lrn_loops(x):
            y = np.zeros_like(x)
            for n, c, i, j in np.ndindex(x.shape):
                near = x[n, max(c - radius, 0) : c + radius + 1, i, j]
                y[n, c, i, j] = x[n, c, i, j] / (bias + alpha * np.sum(near**2)) ** beta
            return y

        def lrn_jax(x):
            squares = lax.reduce_window(x * x, 0.0, lax.add, (1, 2 * radius + 1, 1, 1), (1, 1, 1, 1),
                                        ((0, 0), (radius, radius), (0, 0), (0, 0)))
            return x * (bias + alpha * squares) ** -beta

        case(f"nchw_local_response_normalization_{name}", "local_response_normalization", lambda r: [r.floats(*shape)],
             lrn_jax, lrn_loops, {**LAYOUT, "depth_radius": radius, "bias": bias, "alpha": alpha, "beta": beta})
    return family
