// gqa_attention

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
// A warp for some rows of a key head, and the query heads that share it.
template <int heads, int kv_heads, int key, class X>
__device__ void gqa_scores(const X* query, const bf16* keys, float* scores, long long position, long long capacity) {
  constexpr int sharing = heads / kv_heads;
  const int item = blockIdx.x * 8 + threadIdx.x / 32, kv_head = item % kv_heads, lane = threadIdx.x % 32;
  const long long first = (long long)(item / kv_heads) * kScoredRows;
  if (first > position) return;
  Sum row[kScoredRows][(key + 31) / 32];
#pragma unroll
  for (int r = 0; r < kScoredRows; ++r)
#pragma unroll
    for (int p = 0; p < (key + 31) / 32; ++p)
      row[r][p] = first + r <= position && p * 32 + lane < key
                      ? load(keys, ((first + r) * kv_heads + kv_head) * key + p * 32 + lane) : 0;
  score_rows<sharing, key>(row, query + kv_head * sharing * key, Sum(1) / sqrt((Sum)key), scores + kv_head * sharing * capacity, first,
                           position, capacity);
}
)cuda";

void eager(const OpView& view, EagerBuilder& builder) {
  const Shape s = shape_of(view);
  const EagerOperand scores = eager_scores(builder, s.heads);
  eager_score_source(builder);
  builder.source(kSource);
  builder.launch(view, {.function = instance("gqa_scores", {s.heads, s.kv_heads, s.key}),
                        .operands = {builder.of(view.in[0]), builder.of(view.in[1]), scores, builder.position(),
                                     builder.capacity_word()},
                        .grid = blocks_for(blocks_for(builder.capacity(), kEagerScoredRows) * s.kv_heads, 8)});
  eager_softmax(view, builder, scores, s.heads);
  eager_mix(view, builder,
            {.weights = scores,
             .rows = builder.of(view.in[2]),
             .y = builder.of(view.out[0]),
             .heads = s.heads,
             .kv_heads = s.kv_heads,
             .width = s.value});
}

}  // namespace

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
