# onelaunch_library, onelaunch_executable, onelaunch_test: one set of flags and one include root for every target.
option(ONELAUNCH_SANITIZE "Build with address and undefined-behaviour sanitizers" OFF)
option(ONELAUNCH_FUZZ "Build the fuzz targets (clang): see tests/fuzz/run.sh" OFF)

find_program(ONELAUNCH_CCACHE ccache)
if(ONELAUNCH_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ONELAUNCH_CCACHE})
endif()

function(onelaunch_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
  # Designated initialisers leave out what keeps its default.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wconversion -Wno-missing-field-initializers -Werror
    # g++ 12 sees an overlap in `"a" + std::to_string(n)` that is not there (GCC bug 105651, fixed in 13).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  if(ONELAUNCH_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
  if(ONELAUNCH_FUZZ)
    # clang warns of other things than the compiler that the tree is kept free of warnings with.
    target_compile_options(${target} PRIVATE -w -g -fsanitize=fuzzer-no-link,address,undefined
      -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
endfunction()

# onelaunch_library(NAME SOURCES ... PUBLIC ... PRIVATE ...): the link list is the layer rule.
function(onelaunch_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(onelaunch_${name} STATIC ${arg_SOURCES})
  add_library(onelaunch::${name} ALIAS onelaunch_${name})
  onelaunch_flags(onelaunch_${name})
  target_link_libraries(onelaunch_${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
endfunction()

function(onelaunch_executable name)
  cmake_parse_arguments(arg "" "" "SOURCES;PRIVATE" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  onelaunch_flags(${name})
  target_link_libraries(${name} PRIVATE ${arg_PRIVATE})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()

# onelaunch_test(NAME LABEL unit|worker|gpu SOURCES ... PRIVATE ...): one binary per tested folder.
function(onelaunch_test name)
  cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "SOURCES;PRIVATE" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  onelaunch_flags(${name})
  target_link_libraries(${name} PRIVATE ${arg_PRIVATE} GTest::gtest GTest::gtest_main GTest::gmock)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  gtest_discover_tests(${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} DISCOVERY_TIMEOUT 60)
endfunction()

function(onelaunch_subdirectory folder)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
    add_subdirectory(${folder})
  endif()
endfunction()
