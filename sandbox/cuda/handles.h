#pragma once
// Owners of driver objects. Destructors go on when a call fails: after a faulting kernel every call does.

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/cuda/driver.h"

namespace onelaunch::cuda {

class Module {
 public:
  static Result<Module> load(const Driver& driver, const std::string& cubin);
  Result<CUfunction> function(const std::string& entry) const;
  Result<std::vector<std::string>> entries() const;

 private:
  struct Unload {
    const Driver* driver;
    void operator()(CUmodule module) const noexcept { driver->cuModuleUnload(module); }
  };
  Module(const Driver& driver, CUmodule module) : handle_(module, Unload{&driver}) {}
  std::unique_ptr<CUmod_st, Unload> handle_;
};

class Event {
 public:
  static Result<Event> create(const Driver& driver);
  CUevent get() const { return handle_.get(); }

 private:
  struct Destroy {
    const Driver* driver;
    void operator()(CUevent event) const noexcept { driver->cuEventDestroy(event); }
  };
  Event(const Driver& driver, CUevent event) : handle_(event, Destroy{&driver}) {}
  std::unique_ptr<CUevent_st, Destroy> handle_;
};

class Stream {
 public:
  static Result<Stream> create(const Driver& driver);
  CUstream get() const { return handle_.get(); }

 private:
  struct Destroy {
    const Driver* driver;
    void operator()(CUstream stream) const noexcept { driver->cuStreamDestroy(stream); }
  };
  Stream(const Driver& driver, CUstream stream) : handle_(stream, Destroy{&driver}) {}
  std::unique_ptr<CUstream_st, Destroy> handle_;
};

// A graph that was captured from launches, ready to be replayed.
class Graph {
 public:
  Graph(const Driver& driver, CUgraphExec graph) : handle_(graph, Destroy{&driver}) {}
  CUgraphExec get() const { return handle_.get(); }

 private:
  struct Destroy {
    const Driver* driver;
    void operator()(CUgraphExec graph) const noexcept { driver->cuGraphExecDestroy(graph); }
  };
  std::unique_ptr<CUgraphExec_st, Destroy> handle_;
};

// Page-locked host memory that the GPU reads and writes too.
class HostMemory {
 public:
  static Result<HostMemory> create(const Driver& driver, std::size_t bytes);
  std::byte* data() const { return static_cast<std::byte*>(handle_.get()); }
  Result<CUdeviceptr> address() const;

 private:
  struct Free {
    const Driver* driver;
    void operator()(void* memory) const noexcept { driver->cuMemFreeHost(memory); }
  };
  HostMemory(const Driver& driver, void* memory) : driver_(&driver), handle_(memory, Free{&driver}) {}
  const Driver* driver_;
  std::unique_ptr<void, Free> handle_;
};

}  // namespace onelaunch::cuda
