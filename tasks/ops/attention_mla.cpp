// mla_attention, in the absorbed form

#include <algorithm>
#include <cmath>

#include "tasks/ops/attention_eager.h"
#include "tasks/ops/checks.h"
#include "tasks/ops/dense.h"
#include "tasks/ops/int4_eager.h"
#include "tasks/ops/kinds.h"

namespace onelaunch::tasks {
namespace {

enum In : std::size_t { kQuery, kUp, kLatents, kRotated };

struct Shape {
  std::int64_t heads, nope, rope, latent, value, columns;  // columns of the up-projection of all heads
  std::int64_t query() const { return nope + rope; }
  std::int64_t up() const { return nope + value; }
};

Shape shape_of(const OpView& view) {
  const std::int64_t heads = view.count("heads"), nope = view.count("nope"), columns = view.in[kUp].quantised->out;
  return {heads, nope, extent(view.in[kRotated], 1), extent(view.in[kLatents], 1), columns / heads - nope, columns};
}

Result<std::vector<Value>> infer(const OpView& view) {
  const Shape s = shape_of(view);
  const Quantised& up = *view.in[kUp].quantised;
  return Checks()
      .require(up.experts == 1, up.name + " must not have experts")
      .require(up.out % s.heads == 0 && s.value > 0, up.name + " must give nope + v_dim columns for each head")
      .type(view.in[kLatents], DType::bf16)
      .require(view.in[kLatents].shape == std::vector{kCapacity, up.in},
               view.in[kLatents].name + " must have shape [capacity, " + std::to_string(up.in) + "]")
      .type(view.in[kRotated], DType::bf16)
      .require(view.in[kRotated].shape.size() == 2, view.in[kRotated].name + " must have shape [capacity, rope]")
      .vector(view.in[kQuery], s.heads * s.query())
      .gives({{view.op->round_to, {s.heads * s.value}}});
}

constexpr std::int64_t kRowsATask = 256, kHeadsATask = 8, kColumnsATask = 128;

class Attention {
 public:
  explicit Attention(const OpRun& run)
      : run_(run),
        s_(shape_of(run.view)),
        rows_(run.place.position + 1),
        up_(dequantised(*run.place.pool, run.int4(kUp))),
        absorbed_(size(s_.heads * (s_.latent + s_.rope))),
        scores_(size(s_.heads * rows_)),
        mixed_(size(s_.heads * s_.latent)) {}

  void run() {
    ThreadPool& pool = *run_.place.pool;
    pool.for_each(size(s_.heads), [this](std::size_t head) { absorb(static_cast<std::int64_t>(head)); });
    pool.for_each(size(blocks_for(rows_, kRowsATask)),
                  [this](std::size_t task) { score(static_cast<std::int64_t>(task)); });
    pool.for_each(size(s_.heads), [this](std::size_t head) { softmax({&scores_[head * size(rows_)], size(rows_)}); });
    const std::int64_t across = blocks_for(s_.latent, kColumnsATask);
    pool.for_each(size(blocks_for(s_.heads, kHeadsATask) * across), [this, across](std::size_t task) {
      mix(static_cast<std::int64_t>(task) / across * kHeadsATask,
          static_cast<std::int64_t>(task) % across * kColumnsATask);
    });
    pool.for_each(size(s_.heads), [this](std::size_t head) { raise(static_cast<std::int64_t>(head)); });
  }

 private:
  static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }
  double* absorbed(std::int64_t head) { return &absorbed_[size(head * (s_.latent + s_.rope))]; }

  // The query in the space of the cached rows: W_k times its first part, then its rotated part.
  void absorb(std::int64_t head) {
    const double* query = run_.in(kQuery).data() + head * s_.query();
    for (std::int64_t l = 0; l < s_.latent; ++l)
      absorbed(head)[l] = dot(&up_[size(l * s_.columns + head * s_.up())], query, s_.nope);
    std::copy(query + s_.nope, query + s_.query(), absorbed(head) + s_.latent);
  }

  void score(std::int64_t task) {
    const double scale = 1 / std::sqrt(static_cast<double>(s_.query()));
    const std::uint16_t *latents = run_.bf16(kLatents).data(), *rotated = run_.bf16(kRotated).data();
    std::vector<double> row(size(s_.latent + s_.rope));
    for (std::int64_t r = task * kRowsATask; r < std::min(rows_, (task + 1) * kRowsATask); ++r) {
      widen(latents + r * s_.latent, s_.latent, row.data());
      widen(rotated + r * s_.rope, s_.rope, row.data() + s_.latent);
      for (std::int64_t head = 0; head < s_.heads; ++head)
        scores_[size(head * rows_ + r)] = scale * dot(row.data(), absorbed(head), s_.latent + s_.rope);
    }
  }

  // The weighted sum of latents, of some heads and some columns.
  void mix(std::int64_t first_head, std::int64_t first_column) {
    const std::int64_t last_head = std::min(s_.heads, first_head + kHeadsATask);
    const std::int64_t columns = std::min(kColumnsATask, s_.latent - first_column);
    const std::uint16_t* latents = run_.bf16(kLatents).data();
    double row[kColumnsATask];
    for (std::int64_t r = 0; r < rows_; ++r) {
      widen(latents + r * s_.latent + first_column, columns, row);
      for (std::int64_t head = first_head; head < last_head; ++head)
        add_scaled(scores_[size(head * rows_ + r)], row, columns, &mixed_[size(head * s_.latent + first_column)]);
    }
  }

  void raise(std::int64_t head) {
    double* result = run_.out(0).data() + head * s_.value;
    std::fill(result, result + s_.value, 0.0);
    for (std::int64_t l = 0; l < s_.latent; ++l)
      add_scaled(mixed_[size(head * s_.latent + l)], &up_[size(l * s_.columns + head * s_.up() + s_.nope)], s_.value,
                 result);
  }

  const OpRun& run_;
  const Shape s_;
  const std::int64_t rows_;
  const std::vector<float> up_;
  std::vector<double> absorbed_, scores_, mixed_;  // [head][latent + rope], [head][row], [head][latent]
};

void evaluate(OpRun& run) { Attention(run).run(); }

double flops(const OpView& view, std::int64_t context) {
  const Shape s = shape_of(view);
  const double per_row = static_cast<double>(2 * (s.latent + s.rope) + 2 * s.latent + 3);
  return static_cast<double>(2 * s.latent * s.columns) + static_cast<double>(s.heads * (context + 1)) * per_row;
}

constexpr const char* kSource = R"cuda(
// absorbed[head][l] = sum over c of up[l][head][c] * query[head][c]; then the rotated part. A warp a (head, l).
template <int heads, int nope, int rope, int latent, int value, class X>
__device__ void mla_absorb(const X* query, const bf16* up, float* absorbed) {
  const int item = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  const int head = item / (latent + rope), l = item % (latent + rope);
  if (head >= heads) return;
  const X* mine = query + head * (nope + rope);
  Sum sum = 0;
  if (l < latent) {
    for (int c = lane; c < nope; c += 32)
      sum += load(mine, c) * load(up, (long long)l * heads * (nope + value) + head * (nope + value) + c);
    sum = warp_sum(sum);
  } else {
    sum = load(mine, nope + l - latent);
  }
  if (lane == 0) absorbed[item] = sum;
}
// A warp for some rows and some heads.
template <int heads, int rope, int latent, int query>
__device__ void mla_scores(const float* absorbed, const bf16* latents, const bf16* rotated, float* scores, long long position,
                           long long capacity) {
  constexpr int width = latent + rope, count = heads % 8 == 0 ? 8 : heads % 2 == 0 ? 2 : 1;
  const int item = blockIdx.x * 8 + threadIdx.x / 32, head = item % (heads / count) * count, lane = threadIdx.x % 32;
  const long long first = (long long)(item / (heads / count)) * kScoredRows;
  if (first > position) return;
  Sum row[kScoredRows][(width + 31) / 32];
#pragma unroll
  for (int r = 0; r < kScoredRows; ++r)
#pragma unroll
    for (int p = 0; p < (width + 31) / 32; ++p) {
      const int i = p * 32 + lane;
      row[r][p] = first + r > position || i >= width ? 0
                  : i < latent ? load(latents, (first + r) * latent + i) : load(rotated, (first + r) * rope + i - latent);
    }
  score_rows<count, width>(row, absorbed + head * width, Sum(1) / sqrt((Sum)query), scores + head * capacity, first, position, capacity);
}
// y[head][v] = sum over l of mixed[head][l] * up[l][head][nope + v]: a block for 32 columns of a head, its warps share l.
template <int heads, int nope, int latent, int value, class Y>
__device__ void mla_values(const float* mixed, const bf16* up, Y* y) {
  __shared__ Sum part[8][32];
  constexpr int tiles = (value + 31) / 32;
  const int head = blockIdx.x / tiles, lane = threadIdx.x % 32, warp = threadIdx.x / 32, v = blockIdx.x % tiles * 32 + lane;
  Sum sum = 0;
  if (v < value) {
#pragma unroll 8
    for (int l = warp; l < latent; l += 8)
      sum += mixed[head * latent + l] * load(up, ((long long)l * heads + head) * (nope + value) + nope + v);
  }
  part[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || v >= value) return;
  sum = 0;
#pragma unroll
  for (int w = 0; w < 8; ++w) sum += part[w][lane];
  store(y, head * value + v, sum);
}
)cuda";

// As in the kernel: heads of a warp.
std::int64_t scored_heads(std::int64_t heads) { return heads % 8 == 0 ? 8 : heads % 2 == 0 ? 2 : 1; }

void eager(const OpView& view, EagerBuilder& builder) {
  const Shape s = shape_of(view);
  const EagerOperand up = eager_dequantise(view, builder, view.in[kUp], {});
  const EagerOperand absorbed = builder.buffer("mla.absorbed", s.heads * (s.latent + s.rope), DType::f32);
  const EagerOperand mixed = builder.buffer("mla.mixed", s.heads * s.latent, DType::f32);
  const EagerOperand scores = eager_scores(builder, s.heads), latents = builder.of(view.in[kLatents]);
  const EagerOperand position = builder.position(), capacity = builder.capacity_word();
  eager_score_source(builder);
  builder.source(kSource);
  builder.launch(view, {.function = instance("mla_absorb", {s.heads, s.nope, s.rope, s.latent, s.value}),
                        .operands = {builder.of(view.in[kQuery]), up, absorbed},
                        .grid = blocks_for(s.heads * (s.latent + s.rope), 8)});
  builder.launch(view, {.function = instance("mla_scores", {s.heads, s.rope, s.latent, s.query()}),
                        .operands = {absorbed, latents, builder.of(view.in[kRotated]), scores, position, capacity},
                        .grid = blocks_for(blocks_for(builder.capacity(), kEagerScoredRows) * (s.heads / scored_heads(s.heads)), 8)});
  eager_softmax(view, builder, scores, s.heads);
  eager_mix(view, builder,
            {.weights = scores, .rows = latents, .y = mixed, .heads = s.heads, .kv_heads = 1, .width = s.latent});
  builder.launch(view, {.function = instance("mla_values", {s.heads, s.nope, s.latent, s.value}),
                        .operands = {mixed, up, builder.of(view.out[0])},
                        .grid = s.heads * blocks_for(s.value, 32)});
}

}  // namespace

OpKind mla_attention_kind() {
  using Is = Parameter::Is;
  return {
      .name = "mla_attention",
      .documentation =
          "Multi-head latent attention of one token over cache rows 0 to position. Per head: query = [nope | rope]; "
          "up (int4, latent -> heads * (nope + v_dim), per head key part then value part) gives "
          "key_r = [latents[r] W_k | rotated[r]] and value_r = latents[r] W_v, which are not rounded; "
          "scores are scaled by 1/sqrt(nope + rope); y = softmax(scores) times the values",
      .inputs = {{"query", Is::value}, {"up", Is::int4_weight}, {"latents", Is::cache}, {"rotated", Is::cache}},
      .outputs = {{"y", Is::value}},
      .attributes = {{"heads", "heads of the query", true, 0, true},
                     {"nope", "elements of a head's query that are not rotated", true, 0, true}},
      .infer = infer,
      .evaluate = evaluate,
      .flops = flops,
      .experts_used = nullptr,
      .eager = eager};
}

}  // namespace onelaunch::tasks
