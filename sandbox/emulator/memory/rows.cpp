#include "sandbox/emulator/memory/rows.h"

#include "sandbox/emulator/async/rows.h"

namespace onelaunch::emu {

std::span<const OpcodeRow> memory_rows() {
  static constexpr OpcodeRow kRows[] = {
      {"ld", decode_load, "LoadsAndStores"},
      {"ldu", decode_load, "LoadsAndStores"},
      {"st", decode_store, "LoadsAndStores"},
      {"atom", decode_atomic, "Atomics"},
      {"red", decode_atomic, "Atomics"},
      {"cvta", decode_cvta, "AddressSpaces"},
      {"isspacep", decode_isspacep, "AddressSpaces"},
      {"mapa", decode_mapa, "AddressSpaces"},
      {"getctarank", decode_getctarank, "AddressSpaces"},
      {"prefetch", decode_hint, "Hints"},
      {"prefetchu", decode_hint, "Hints"},
      {"applypriority", decode_hint, "Hints"},
      {"discard", decode_hint, "Hints"},
      {"createpolicy", decode_createpolicy, "Hints"},
      {"ldmatrix", decode_ldmatrix, "Matrices"},
      {"stmatrix", decode_stmatrix, "Matrices"},
      {"cp", decode_copy, "AsyncCopies"},
      {"mbarrier", decode_mbarrier, "Mbarriers"},
  };
  return kRows;
}

}  // namespace onelaunch::emu
