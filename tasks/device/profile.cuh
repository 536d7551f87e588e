// Profile builds only: thread 0 of every block stamps the clock into a buffer of the harness. Until the buffer has been
// attached, and beyond its end, stamps are counted and dropped.
#define OL_PROFILE 1

namespace ol::profile {

enum Kind : unsigned { phase = 1, leave = 2, arrive = 3, released = 4 };

// A name travels in the code as words, so that marking costs stores and nothing else. What is longer is cut.
struct Name {
  unsigned long long words[6];
  __device__ consteval Name(const char* text) : words{} {
    for (int i = 0; i < 47 && text[i] != 0; ++i) words[i / 8] |= (unsigned long long)(unsigned char)text[i] << (i % 8 * 8);
  }
};

struct alignas(16) Event {
  unsigned long long ns;
  unsigned kind, sm;
  unsigned long long name[6];  // of a phase
};

// Per block, before the events of all blocks.
struct alignas(16) Block {
  unsigned long long used;  // events; may be more than there is room for
  unsigned long long launch, marks, last_ns;
};

struct Attached {
  unsigned long long buffer, capacity, launch;  // capacity: events of a block
};

// Where a block is in its events. Shared memory is not cleared between launches, so a cursor that has rested for long is
// compared with the launch at hand; a fresh one costs no access to global memory.
struct Cursor {
  unsigned long long last_ns, events, header;
  unsigned magic, used, marks, launch, capacity;
};
constexpr unsigned kMagic = 0x70726f66;
constexpr unsigned long long kRestNs = 20000;

}  // namespace ol::profile

extern "C" {
__device__ ::ol::profile::Attached ol_profile_attached;
__global__ void ol_profile_attach(unsigned long long buffer, unsigned long long capacity, unsigned long long launch) {
  ol_profile_attached = {buffer, capacity, launch};
}
}

namespace ol::profile {

__device__ inline unsigned long long now() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns)::"memory");
  return ns;
}
__device__ inline unsigned this_sm() {
  unsigned sm;
  asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
  return sm;
}

__device__ inline void begin(Cursor& cursor, const Attached& attached) {
  const unsigned long long blocks = attached.buffer, events = blocks + gridDim.x * sizeof(Block);
  cursor.magic = kMagic, cursor.used = 0, cursor.marks = 0;
  cursor.launch = (unsigned)attached.launch, cursor.capacity = (unsigned)attached.capacity;
  cursor.header = blocks + blockIdx.x * sizeof(Block);
  cursor.events = events + blockIdx.x * attached.capacity * sizeof(Event);
}

#ifndef OL_PROFILE_GLOBAL
__device__ inline Cursor& shared_cursor() {
  __shared__ Cursor cursor;
  return cursor;
}
__device__ inline Cursor load_cursor(unsigned long long ns) {
  Cursor& cursor = shared_cursor();
  if (cursor.magic == kMagic && ns - cursor.last_ns < kRestNs) return cursor;
  const Attached attached = ol_profile_attached;
  if (cursor.magic != kMagic || cursor.launch != (unsigned)attached.launch) begin(cursor, attached);
  return cursor;
}
__device__ inline void store_cursor(const Cursor& cursor) { shared_cursor() = cursor; }
#else
// For a kernel that leaves no shared memory: the cursor lies before the events, and every stamp waits for it.
__device__ inline Cursor load_cursor(unsigned long long) {
  const Attached attached = ol_profile_attached;
  Cursor cursor;
  begin(cursor, attached);
  const Block block = *reinterpret_cast<const Block*>(cursor.header);
  if (attached.buffer != 0 && block.launch == attached.launch) cursor.used = (unsigned)block.used, cursor.marks = (unsigned)block.marks;
  return cursor;
}
__device__ inline void store_cursor(const Cursor&) {}
#endif

// Lanes that came together go on together: what follows may be an instruction of the whole warp.
class Together {
 public:
  __device__ Together() : lanes_(__activemask()) {}
  __device__ ~Together() { __syncwarp(lanes_); }

 private:
  unsigned lanes_;
};

// Thread 0's part. The number of phases that this block has marked so far, this one included.
__device__ inline unsigned record(unsigned kind, const unsigned long long* name) {
  const unsigned long long ns = now();
  Cursor cursor = load_cursor(ns);
  if (kind == phase) ++cursor.marks;
  if (cursor.capacity != 0) {
    if (cursor.used < cursor.capacity) {
      Event* event = reinterpret_cast<Event*>(cursor.events) + cursor.used;
      *reinterpret_cast<ulonglong2*>(event) = make_ulonglong2(ns, kind | (unsigned long long)this_sm() << 32);
      if (kind == phase)
        for (int i = 0; i < 3; ++i)
          reinterpret_cast<ulonglong2*>(event)[i + 1] = make_ulonglong2(name[2 * i], name[2 * i + 1]);
    }
    ++cursor.used;
    ulonglong2* block = reinterpret_cast<ulonglong2*>(cursor.header);
    block[0] = make_ulonglong2(cursor.used, cursor.launch);
#ifdef OL_PROFILE_GLOBAL
    block[1] = make_ulonglong2(cursor.marks, ns);
#endif
  }
  cursor.last_ns = ns;
  store_cursor(cursor);
  asm volatile("" ::: "memory");
  return cursor.marks;
}

__device__ inline unsigned stamp(unsigned kind, const unsigned long long* name) {
  const Together together;
  return threadIdx.x == 0 ? record(kind, name) : 0;
}

// A phase lasts until the next mark. The end of the code block that the last mark is in ends that one.
class Phase {
 public:
  __device__ explicit Phase(const Name& name) : mark_(stamp(phase, name.words)) {}
  __device__ ~Phase() {
    const Together together;
    if (threadIdx.x == 0 && load_cursor(now()).marks == mark_) record(leave, nullptr);
  }
  Phase(const Phase&) = delete;

 private:
  unsigned mark_;
};

}  // namespace ol::profile

#define OL_PROFILE_JOIN(a, b) a##b
#define OL_PROFILE_NAMED(text, n) ::ol::profile::Phase OL_PROFILE_JOIN(ol_phase_, n){::ol::profile::Name(text)}
#ifdef OL_PROFILE_PLAIN
#define OL_PHASE(text) ::ol::profile::stamp(::ol::profile::phase, ::ol::profile::Name(text).words)
#else
#define OL_PHASE(text) OL_PROFILE_NAMED(text, __LINE__)
#endif
#define OL_STAMP(which) ::ol::profile::stamp(::ol::profile::which, nullptr)
