// Every mistake the library can name, each with its one sentence: what is required. The compiler's diagnostics
// (diagnostics.hpp) and the exceptions of the same mistakes at run time (error.hpp) both read this list.
#pragma once
#include <string_view>

// clang-format off
#define FLOWGRAPH_PROBLEMS(X) \
  /* element types */ \
  X(dtypes_differ, "the operands must have the same element type; cast one of them") \
  X(dtype_unsupported, "this op is not defined for this element type") \
  X(needs_floating, "this op needs a floating-point operand; cast it") \
  X(needs_boolean, "this op needs a boolean operand; compare with something first") \
  X(needs_integer, "indices and labels must be int32 or int64; cast them") \
  X(integer_division, "integers are divided by floordiv(a, b), which rounds down; or cast them to a floating-point type") \
  X(tensor_compared, "tensors are compared element by element, by equal(a, b) and not_equal(a, b); == and != would be one answer") \
  X(tensor_as_condition, "a tensor has no value while the graph is built: choose with fg::cond(condition, then, otherwise), or element by element with fg::where(condition, a, b)") \
  X(tensor_converted, "a tensor of one element type and shape can't become a tensor of another; give the result a variable of its own, as in auto y = relu(x)") \
  X(tensor_subscript, "a tensor has no elements while the graph is built: take them with fg::slice, gather(x, indices) or unstack<0>(x)") \
  X(variable_changed, "a variable is changed when a step runs: by assign(w, value), assign_add(w, value) or assign_sub(w, value), which need a name to be run by") \
  X(literal_does_not_fit, "a number with a fraction can't be combined with an integer tensor; cast the tensor to a floating-point type") \
  /* shapes */ \
  X(operand_rank, "an operand has the wrong rank for this op") \
  X(rank_too_high, "a tensor has at most 8 axes") \
  X(broadcast, "the shapes do not broadcast: from the back, two extents must be equal or one of them must be 1") \
  X(broadcast_to, "broadcast_to: the operand does not broadcast to the requested shape") \
  X(same_shape, "the operands must have the same shape") \
  X(inner_dimensions, "matmul: the columns of the left operand must equal the rows of the right operand") \
  X(batch_dimensions, "matmul: the leading axes of both operands must broadcast") \
  X(square_matrix, "the last two axes must be equal: a square matrix is needed") \
  X(solve_rows, "the rows of the right-hand side must equal those of the matrix") \
  X(solve_batch, "the leading axes of the matrix and of the right-hand side must broadcast") \
  X(argument_too_many, "this function has no such argument: axes, sizes and options are template arguments, as in reduce_sum<1>(x), softmax<0>(x), transpose<1, 0>(x) and matmul<fg::transpose_b>(a, b)") \
  X(axis_out_of_range, "an axis must lie between -rank and rank-1 of the operand") \
  X(axis_twice, "an axis is named twice") \
  X(permutation, "transpose: the axes must be a permutation of 0 to rank-1") \
  X(reshape_count, "reshape: the new shape must have as many elements as the operand") \
  X(reshape_open, "reshape: only one extent may be -1, for what the others leave") \
  X(squeeze_extent, "squeeze: only an axis of extent 1 can be removed") \
  X(concat_extents, "concat: the operands must agree in every extent but the one that is joined") \
  X(split_extent, "split: the extent must be a number, which the parts make up exactly") \
  X(slice_bounds, "slice: begin and size must lie within the operand") \
  X(slice_stride, "strided_slice: a stride must not be 0") \
  X(needs_number, "this op needs an extent that is a number, not a name") \
  X(pad_rank, "pad: there must be one pair of paddings for every axis, none of them negative") \
  X(tile_rank, "tile: there must be one positive count for every axis") \
  X(count_out_of_range, "the count must lie between 1 and the extent of the last axis") \
  X(gather_indices, "the last extent of the indices must be a number, at most the rank of the operand") \
  X(scatter_shape, "scatter: the updates must have the shape of the indices followed by the rest of the target") \
  X(row_numbers, "there must be one row for each part, segment or position, of the result's extents behind the first") \
  X(along_axis_shape, "take_along_axis: the indices must have the operand's extents, but for the axis that is taken from") \
  X(einsum_syntax, "einsum: the equation must read like \"ij,jk->ik\", one term of lower-case letters for each operand") \
  X(einsum_rank, "einsum: every term must have as many letters as its operand has axes") \
  X(einsum_extents, "einsum: a letter must stand for the same extent wherever it occurs") \
  X(einsum_output, "einsum: every letter of the result must occur in a term, and only once in the result") \
  X(bias_extent, "bias_add: the bias must have one element for each channel") \
  X(labels_shape, "the labels must have the shape of the logits without their last axis") \
  X(sampled_shapes, "sampled_softmax_loss: weights are [classes, units], biases [classes], inputs [batch, units], labels [batch]") \
  X(conv_rank, "convolution: images are [batch, height, width, channels] and filters [height, width, in, out]") \
  X(conv_channels, "convolution: the filter's input channels times the groups must equal the image's channels") \
  X(conv_groups, "convolution: the groups must divide the output channels") \
  X(transpose_shape, "conv2d_transpose: the operand must have the shape that the convolution of the stated result has") \
  X(conv_window, "the window does not fit into the padded image") \
  X(pool_rank, "pooling: images are [batch, height, width, channels]") \
  X(pool_padding, "pooling: the padding must be smaller than the window") \
  X(window_positive, "groups, window, stride and dilation must be at least 1") \
  X(norm_extents, "scale, offset, mean and variance must have the extents of the axes that are normalised") \
  X(parameter_range, "a parameter of this op is out of its range") \
  /* building a graph */ \
  X(loss_not_scalar, "the loss must be a scalar; reduce it first") \
  X(loss_not_floating, "the loss must be floating-point") \
  X(no_gradient, "gradients: an op between the loss and a variable has no gradient") \
  X(no_variables, "minimize: the loss depends on no trainable variable") \
  X(assign_shape, "assign: the value must have the element type and shape of the variable") \
  X(needs_variable, "the first operand must be a variable, which this op changes") \
  X(host_function, "host_call: the function must take an array_ref<const T> for each operand, then an array_ref<T> for the result, if any") \
  X(branch_function, "cond and switch_case: a branch is a function without parameters, as in cond(x > 0, [&] { return x; }, [&] { return -x; }); fg::where chooses between tensors") \
  X(loop_function, "while_loop: condition and body are functions with one parameter for each loop variable, as in while_loop([](auto i, auto x) { return i < 5; }, [](auto i, auto x) { return std::tuple(i + 1, x * 2); }, i, x)") \
  X(row_function, "scan, fold, map and repeat: the function has one parameter for each state and behind them one for a row of each tensor") \
  X(region_result, "what a branch or a body gives must be a tensor, a number, an operation, or a std::tuple of them") \
  X(branch_results, "cond: both branches must give the same number of tensors, of the same element types and shapes") \
  X(branch_choice, "cond and switch_case: the choice must be a scalar, boolean for cond and int32 or int64 for switch_case") \
  X(loop_condition, "while_loop: the condition must give a boolean scalar") \
  X(loop_variables, "while_loop: the body must give one tensor for each loop variable, of its element type and shape") \
  X(scan_lengths, "scan, fold and map: the tensors must have the same leading extent") \
  X(recurrent_shapes, "lstm and gru need x [time, batch, inputs], a state [batch, units], weights [gates * units, inputs] and [gates * units, units]; a cell needs x [batch, inputs]") \
  X(parallel_rows, "parallel_iterations: the leading extent must be a number, at least that of the loops") \
  X(op_base, "an op is a struct my_op : fg::op<my_op, \"my_op\">") \
  X(op_infer, "an op states its shape and type rule, which the compiler runs: static constexpr void infer(fg::inference& f)") \
  X(op_member, "what an op states must read: static constexpr void gradient(fg::gradient_step&), int simplify(fg::rewriter&), double fold(const double*), std::int64_t flops(const fg::cost_query&)") \
  X(op_attributes, "apply: an op with attributes needs them, as in fg::apply<my_op, my_op::attrs{.width = 3}>(x), and one without has none") \
  X(left_region, "a tensor made inside a branch or a loop's body can't be used outside; let the branch or the body give it") \
  X(different_graphs, "the operands belong to different graphs") \
  X(name_syntax, "a name must not be empty and must not contain '/' or spaces") \
  X(name_taken, "this name is given already, to another tensor or operation of the graph; choose another one, or, to use a variable again, its handle or auto shared = g.share_variables()") \
  X(layer_taken, "a layer of this name has its parameters already; choose another name, or, to use the same parameters again, say so: auto shared = g.share_variables()") \
  X(update_unnamed, "this update never runs, because no name leads to it; name it, as in g.name(\"train\", fg::adam(0.1).minimize(loss)), or something that runs after it") \
  X(define_returns, "define: what the lambda returns is lost; name it, as in g.name(\"y\", y), and return nothing") \
  X(model_not_constant, "the model of a session must be a constant of the compiler's; define it as inline constexpr auto model = fg::define(...)") \
  X(gradient_unused, "gradients: the loss does not use this tensor, so that its derivative would be zero; take it by what the loss is made of") \
  X(device_syntax, "a device is written like \"/gpu:0\", \"/job:ps/task:1\" or \"/job:worker/task:0/cpu:0\"") \
  X(lambda_captures, "define: the lambda must not capture, as in define([](fg::graph& g) {...}): the compiler runs it, so what it uses must be constexpr") \
  X(lambda_of_graph, "define takes a lambda of a reference to the graph, as in define([](fg::graph& g) {...})") \
  X(initial_type, "a variable of this element type can't begin with random numbers of this kind") \
  X(initial_shape, "a variable that begins as identity must be a matrix, and one that begins orthogonal needs two axes or more") \
  X(initial_range, "a uniform initial value needs a lower bound below the upper one, and a normal one a deviation of at least 0") \
  X(initial_data, "the numbers that a variable begins with must have its extents") \
  X(parameter_differs, "a variable that is shared must have the element type and extents that it has already") \
  X(rate_kind, "an optimizer takes a learning rate, which is a number, a scalar tensor or a schedule, as in fg::adam(0.01)") \
  X(learning_rate, "a learning rate must be a finite number above 0") \
  X(hyper_parameter, "a hyper-parameter is out of its range") \
  X(clip_bounds, "clipping takes a lower bound and an upper one that is not below it") \
  X(already_said, "the graph has a mistake that the compiler has reported") \
  X(invalid_graph, "the graph is malformed") \
  X(invalid_plan, "the plan is malformed") \
  X(model_too_large, "the model or its plan is no constant expression, as the error before this one says; if it is only too large for the compiler's limits, raise them: clang++ -fconstexpr-steps=16777216, g++ -fconstexpr-ops-limit=536870912 -fconstexpr-loop-limit=4194304") \
  /* running a model */ \
  X(unknown_name, "the model has no tensor or operation of this name") \
  X(nothing_fetched, "run: name at least one tensor or operation to fetch") \
  X(not_fed, "run: a placeholder that the fetches need is not fed") \
  X(fed_in_vain, "run: no fetch needs this feed") \
  X(fed_twice, "run: the same tensor is fed twice") \
  X(operation_fed, "run: an operation has no value and can't be fed") \
  X(run_argument, "run takes what fg::feed gives, as in s.run<\"loss\">(fg::feed<\"x\">(images))") \
  X(run_feed_name, "a session of a constexpr model takes names as template arguments, as in fg::feed<\"x\">(images)") \
  X(run_fetch_name, "a session of a constexpr model takes names as template arguments, as in s.run<\"loss\">(...), s.get<\"w\">() and s.set<\"w\">(values)") \
  X(feed_name, "feed takes the name of a placeholder, then its data, as in fg::feed<\"x\">(images)") \
  X(feed_pointer, "feed: a pointer does not say how many numbers there are; feed std::span(pointer, count)") \
  X(feed_nested, "feed: the rows of nested containers lie apart in memory; feed one std::vector with all of them row by row, or an fg::ndarray") \
  X(feed_bools, "feed: std::vector<bool> has no bools in memory; feed an fg::ndarray of bool, or a std::array<bool, n>") \
  X(feed_data, "feed takes numbers: std::vector, std::array, std::span, C arrays, fg::ndarray, or one number for a scalar") \
  X(feed_dtype, "feed: the data must have the element type of the tensor") \
  X(feed_extents, "feed: the data must have the shape of the tensor") \
  X(array_data, "array: the data must have the element type and the extents of the array") \
  X(array_ends, "array: what would point into it outlives this temporary array; give the array a name first, as in auto y = s.run<\"y\">(...)") \
  X(function_arguments, "function: a call needs one argument for each placeholder that the outputs need, in the order of the model; or feeds by name") \
  X(result_targets, "run_into: there must be one target for each value, of the type that run gives, or an fg::ndview of an array") \
  X(not_a_variable, "get and set need the name of a variable") \
  X(extent_conflict, "one named extent was bound to two different numbers") \
  X(too_many_elements, "a tensor with these extents would be larger than any memory") \
  X(extent_negative, "an extent that the step needs is negative with these feeds") \
  X(extent_unknown, "a named extent that the step needs is not bound by any feed") \
  X(no_kernel, "an op has no kernel for this element type on this device") \
  X(kernel_members, "a kernel is a template <> struct fg::cpu_kernel<my_op> with using types = fg::type_list<float, ...>; and template <class T> static void run(const fg::kernel_args& k)") \
  X(singular_matrix, "the matrix must not be singular") \
  X(not_positive_definite, "cholesky: the matrix must be positive definite") \
  X(index_out_of_range, "an index or label must lie within the axis that it points into") \
  X(division_by_zero, "integer division: the divisor must not be 0") \
  X(kernel_failed, "a kernel failed while the step ran") \
  X(not_finite, "check_numerics: every number must be finite") \
  X(check_failed, "check: every element of the condition must be true") \
  X(no_such_kernels, "the program was built without the kernels that were asked for") \
  X(cancelled, "the step was stopped before it was done") \
  X(deadline_passed, "the step was not done by its deadline") \
  X(session_ended, "the session ended before the step was done") \
  X(session_threads, "a session needs at least 1 thread") \
  X(no_device, "the graph asks for a device that this session does not have") \
  X(no_host, "what a device does not compute needs a CPU of the same task in the list of devices") \
  X(session_device, "a device of a session must be a CPU, written like \"/cpu:0\" or \"/job:ps/task:0/cpu:0\"") \
  X(not_its_device, "the memory of a device is asked of one that the model's fg::on_devices lists") \
  X(not_its_task, "traffic is asked of tasks, written like \"/job:worker\" or \"/job:ps/task:0\", of devices that the model's fg::on_devices lists") \
  X(device_twice, "a session must not have the same device twice") \
  X(devices_differ, "the devices of a session<model> are part of its type, as in session<on_devices<model, \"/cpu:0\", \"/cpu:1\">>; options.devices must be empty or name the same") \
  /* queues and other things that steps wait for */ \
  X(end_of_input, "there is nothing left, and nothing more will come") \
  X(queue_closed, "enqueue: the queue must not be closed") \
  X(enqueue_cancelled, "enqueue: the queue was closed while this waited for room") \
  X(queue_extents, "the elements of a queue must have extents that are numbers: they outlive the feeds that bind names") \
  X(queue_components, "a queue has 1 to 7 components, and each element has a tensor for every one of them") \
  X(queue_element, "enqueue: a value must have the element type and extents of the queue's component") \
  X(queue_batch, "enqueue_many: a value must have the queue's component behind a first extent, the same for all of them") \
  X(queue_capacity, "a queue's capacity must be at least 1, and its min_after_dequeue from 0 to below that") \
  X(dequeue_count, "dequeue_many and dequeue_up_to need a number of at least 1, or a named extent") \
  X(not_a_resource, "the model has no queue, mutex or barrier of this kind and name") \
  X(variable_differs, "a variable of this name exists with another element type or other extents") \
  X(no_such_variable, "no session has brought a variable of this name") \
  X(variable_unnamed, "a variable needs a name where sessions or graphs share it") \
  X(moved_from, "the session has been moved from, and nothing is left to run") \
  X(no_graph_of_its_own, "the session must have a graph of its own, as fg::dynamic_session s(g) has") \
  X(policies_differ, "of sessions that share variables all must be lock_free, or none") \
  X(resource_differs, "a queue, mutex or barrier of this name exists with another kind, capacity or element type") \
  X(mutex_held, "acquire: this step holds the mutex already") \
  X(mutex_not_held, "release: this step must hold the mutex") \
  X(barrier_parties, "a barrier needs at least 1 party") \
  /* files */ \
  X(file_access, "the file must be there and readable, or its directory writable") \
  X(no_onnx_form, "every node that a fetch needs must have a form in ONNX") \
  X(onnx_unsupported, "the model must be made of ops, types and forms that can be imported") \
  X(file_malformed, "the file must be whole and of the format that it is read as") \
  X(file_mismatch, "the file must hold the element type and the extents that it is read as") \
  X(file_limit, "reading the file must not take more memory than fg::file_limits allow") \
  X(file_unsupported, "the program was built without the library that reads this kind of file") \
  X(tensor_names, "tensors of a file need different names, in UTF-8, other than \"__metadata__\"") \
  X(array_names, "arrays of a .npz file need different names of 1 to 1,000 bytes") \
  X(checkpoint_mismatch, "a checkpoint must have the variables of the session, and no others") \
  /* many machines */ \
  X(peer_absent, "a task that others need must be reachable within their deadline") \
  X(peer_refused, "both ends of a connection need the same key, cluster, version and model, and must expect each other") \
  X(peer_lost, "the connection to a task must last while others need it") \
  X(peer_silent, "a task must say something within the patience of its peers") \
  X(peer_protocol, "what comes over a connection must be frames that the other end can take") \
  X(peer_drained, "a task that has said that it sends no more has left") \
  X(link_closed, "this end has closed the connection") \
  X(address_form, "an address is HOST:PORT, unix:PATH, process:NAME or mpi:RANK") \
  X(address_taken, "an address that a task listens at must be free, and of this machine") \
  X(cluster_key, "the key of a cluster has at least 16 bytes; openssl rand -hex 32 makes one") \
  X(cluster_environment, "what tells a task of its cluster must name every task once, each with an address, and this one") \
  X(cluster_tasks, "a cluster has jobs of different names (letters, digits, '_', '.', '-'), each with tasks at different addresses") \
  X(cluster_unguarded, "tasks on TCP need a key, network_options::key, FLOWGRAPH_KEY_FILE or FLOWGRAPH_KEY, or certificates; network_options::plaintext says that they need none") \
  X(network_option, "network_options: times are above 0, patience is longer than a beat, one stranger at least may wait") \
  X(cluster_mpi, "tasks with addresses of MPI need a program that is built with it (FLOWGRAPH_MPI), and all ranks to open their network") \
  X(cluster_certificate, "certificates are PEM files: the task's own, its private key, and the authorities that all trust") \
  /* reading data */ \
  X(image_shape, "an image must be [height, width], [height, width, channels] or [images, height, width, channels], with 1 to 4 channels") \
  X(fit_argument, "fit: what is monitored must be one of the values, and every value needs a name") \
  X(dataset_argument, "dataset: a count must be at least 1, and a shard's index below their number") \
  X(dataset_rows, "dataset: arrays that are read in step must have equally many rows, and the rows of a batch equal extents")
// clang-format on

namespace flowgraph {

enum class problem : int {
  none,
#define FLOWGRAPH_PROBLEM(name, sentence) name,
  FLOWGRAPH_PROBLEMS(FLOWGRAPH_PROBLEM)
#undef FLOWGRAPH_PROBLEM
};

// Pointers: as views, the compiler would count the characters of all of them in every file.
constexpr std::string_view sentence(problem p) {
  constexpr const char* all[] = {"",
#define FLOWGRAPH_PROBLEM(name, sentence) sentence,
                                 FLOWGRAPH_PROBLEMS(FLOWGRAPH_PROBLEM)
#undef FLOWGRAPH_PROBLEM
  };
  return all[static_cast<int>(p)];
}

}  // namespace flowgraph
