// gqa_attention, and the eager softmax that all attention shares

#include <cmath>

#include "tasks/ops/attention_eager.h"
#include "tasks/ops/checks.h"
#include "tasks/ops/dense.h"
#include "tasks/ops/kinds.h"

namespace onelaunch::tasks {
namespace {

struct Shape {
  std::int64_t heads, kv_heads, key, value;  // elements of one head
};

Shape shape_of(const OpView& view) {
  const std::int64_t kv_heads = view.count("kv_heads");
  return {view.count("heads"), kv_heads, extent(view.in[1], 1) / kv_heads, extent(view.in[2], 1) / kv_heads};
}

Result<std::vector<Value>> infer(const OpView& view) {
  const Shape s = shape_of(view);
  Checks checks;
  for (const std::size_t cache : {1, 2})
    checks.type(view.in[cache], DType::bf16)
        .require(view.in[cache].shape.size() == 2 && extent(view.in[cache], 1) % s.kv_heads == 0,
                 view.in[cache].name + " must have shape [capacity, kv_heads * head_dim]");
  return checks.require(s.heads % s.kv_heads == 0, "heads must be a multiple of kv_heads")
      .vector(view.in[0], s.heads * s.key)
      .gives({{view.op->round_to, {s.heads * s.value}}});
}

void attend(const OpRun& run, const Shape& s, std::int64_t head) {
  const std::int64_t rows = run.place.position + 1, kv_head = head / (s.heads / s.kv_heads);
  const std::uint16_t* keys = run.bf16(1).data() + kv_head * s.key;
  const std::uint16_t* values = run.bf16(2).data() + kv_head * s.value;
  const double scale = 1 / std::sqrt(static_cast<double>(s.key));
  std::vector<double> scores(static_cast<std::size_t>(rows)), row(static_cast<std::size_t>(std::max(s.key, s.value)));
  for (std::int64_t r = 0; r < rows; ++r) {
    widen(keys + r * s.kv_heads * s.key, s.key, row.data());
    scores[static_cast<std::size_t>(r)] = scale * dot(row.data(), run.in(0).data() + head * s.key, s.key);
  }
  softmax(scores);
  double* result = run.out(0).data() + head * s.value;
  std::fill(result, result + s.value, 0.0);
  for (std::int64_t r = 0; r < rows; ++r) {
    widen(values + r * s.kv_heads * s.value, s.value, row.data());
    add_scaled(scores[static_cast<std::size_t>(r)], row.data(), s.value, result);
  }
}

void evaluate(OpRun& run) {
  const Shape s = shape_of(run.view);
  run.place.pool->for_each(static_cast<std::size_t>(s.heads),
                           [&](std::size_t head) { attend(run, s, static_cast<std::int64_t>(head)); });
}

double flops(const OpView& view, std::int64_t context) {
  const Shape s = shape_of(view);
  return static_cast<double>(s.heads * (context + 1)) * static_cast<double>(2 * s.key + 2 * s.value + 3);
}

constexpr const char* kSource = R"cuda(
// A warp a row and head.
template <int heads, int kv_heads, int key, class X>
__device__ void gqa_scores(const X* query, const bf16* keys, float* scores, long long position, long long capacity) {
  const long long item = blockIdx.x * 8ll + threadIdx.x / 32, rows = position + 1;
  if (item >= rows * heads) return;
  const int head = item % heads, lane = threadIdx.x % 32;
  const long long row = item / heads;
  float sum = 0;
  for (int i = lane; i < key; i += 32)
    sum += load(query, head * key + i) * load(keys, (row * kv_heads + head / (heads / kv_heads)) * key + i);
  sum = warp_sum(sum);
  if (lane == 0) scores[head * capacity + row] = sum * rsqrtf((float)key);
}
// A block for 32 elements of a head: a lane an element, the warps share the rows.
template <int heads, int kv_heads, int value, class Y>
__device__ void gqa_values(const float* weights, const bf16* values, Y* y, long long position, long long capacity) {
  __shared__ float part[8][32];
  constexpr int tiles = (value + 31) / 32;
  const int head = blockIdx.x / tiles, lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x % tiles * 32 + lane;
  float sum = 0;
  if (i < value)
    for (long long row = warp; row <= position; row += 8)
      sum += weights[head * capacity + row] * load(values, (row * kv_heads + head / (heads / kv_heads)) * value + i);
  part[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || i >= value) return;
  sum = 0;
  for (int w = 0; w < 8; ++w) sum += part[w][lane];
  store(y, head * value + i, sum);
}
)cuda";

constexpr const char* kSoftmax = R"cuda(
// A block a head.
template <int heads>
__device__ void softmax(float* scores, long long position, long long capacity) {
  float* mine = scores + blockIdx.x * capacity;
  float top = -3e38f, sum = 0;
  for (long long row = threadIdx.x; row <= position; row += 256) top = fmaxf(top, mine[row]);
  top = block_max(top);
  for (long long row = threadIdx.x; row <= position; row += 256) {
    mine[row] = expf(mine[row] - top);
    sum += mine[row];
  }
  sum = block_sum(sum);
  for (long long row = threadIdx.x; row <= position; row += 256) mine[row] /= sum;
}
)cuda";

void eager(const OpView& view, EagerBuilder& builder) {
  const Shape s = shape_of(view);
  const EagerOperand scores = eager_scores(builder, s.heads);
  builder.source(kSource);
  builder.launch(view, {.function = instance("gqa_scores", {s.heads, s.kv_heads, s.key}),
                        .operands = {builder.of(view.in[0]), builder.of(view.in[1]), scores, builder.position(),
                                     builder.capacity_word()},
                        .grid = blocks_for(builder.capacity() * s.heads, 8)});
  eager_softmax(view, builder, scores, s.heads);
  builder.launch(view, {.function = instance("gqa_values", {s.heads, s.kv_heads, s.value}),
                        .operands = {scores, builder.of(view.in[2]), builder.of(view.out[0]), builder.position(),
                                     builder.capacity_word()},
                        .grid = s.heads * blocks_for(s.value, 32)});
}

}  // namespace

void eager_softmax(const OpView& view, EagerBuilder& builder, const EagerOperand& scores, std::int64_t heads) {
  builder.source(kSoftmax);
  builder.launch(view, {.function = instance("softmax", {heads}),
                        .operands = {scores, builder.position(), builder.capacity_word()},
                        .grid = heads});
}

EagerOperand eager_scores(EagerBuilder& builder, std::int64_t heads) {
  return builder.buffer("scores." + std::to_string(heads), heads * builder.capacity(), DType::f32);
}

OpKind gqa_attention_kind() {
  using Is = Parameter::Is;
  return {.name = "gqa_attention",
          .documentation =
              "Attention of one token over cache rows 0 to position: query head h uses key and value head "
              "h / (heads / kv_heads); scores are scaled by 1/sqrt(head_dim); y = softmax(scores) times the values",
          .inputs = {{"query", Is::value}, {"k_cache", Is::cache}, {"v_cache", Is::cache}},
          .outputs = {{"y", Is::value}},
          .attributes = {{"heads", "query heads", true, 0, true}, {"kv_heads", "key and value heads", true, 0, true}},
          .infer = infer,
          .evaluate = evaluate,
          .flops = flops,
          .experts_used = nullptr,
          .eager = eager};
}

}  // namespace onelaunch::tasks
