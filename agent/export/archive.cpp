#include "agent/export/archive.h"

#include <zlib.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "base/files.h"

namespace onelaunch::exporting {
namespace {

constexpr int kGzip = 16;  // added to the window bits: a gzip header instead of zlib's
constexpr std::size_t kBlock = 512;

Result<std::string> compress(std::string_view content, int window_bits) {
  z_stream stream{};
  if (::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window_bits, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    return fail(Error::Kind::internal, "zlib does not start");
  std::string packed(::deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  if (result != Z_STREAM_END) return fail(Error::Kind::internal, "zlib ended with " + std::to_string(result));
  return packed;
}

// POSIX ustar.
struct Header {
  std::array<char, kBlock> bytes{};
  void put(std::size_t at, std::string_view text) { std::memcpy(bytes.data() + at, text.data(), text.size()); }
  void put_octal(std::size_t at, std::size_t digits, unsigned long long value) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "%0*llo", static_cast<int>(digits), value);
    put(at, text.data());
  }
};

Result<std::string> header_of(const std::string& path, std::size_t size) {
  constexpr std::size_t kNameBytes = 100;
  if (path.size() >= kNameBytes) return fail(Error::Kind::internal, "a path of an archive is too long: " + path);
  Header header;
  header.put(0, path);
  header.put_octal(100, 7, 0644);
  header.put_octal(108, 7, 0), header.put_octal(116, 7, 0);  // owner, group
  header.put_octal(124, 11, size);
  header.put_octal(136, 11, 0);                              // time: the same files give the same archive
  header.put(148, "        ");
  header.put(156, "0");
  header.put(257, std::string_view("ustar\0" "00", 8));
  unsigned long long sum = 0;
  for (const char byte : header.bytes) sum += static_cast<unsigned char>(byte);
  header.put_octal(148, 6, sum);
  header.bytes[154] = '\0';
  return std::string(header.bytes.data(), kBlock);
}

}  // namespace

Result<void> write_folder(const Files& files, const std::filesystem::path& folder) {
  for (const auto& [path, content] : files) {
    const Result<void> done = replace_file(folder / path, content);
    if (!done) return because(done.error());
  }
  return {};
}

Result<std::string> tar_gz(const Files& files, const std::string& root) {
  std::string tar;
  for (const auto& [path, content] : files) {
    const Result<std::string> header = header_of(root + "/" + path, content.size());
    if (!header) return because(header.error());
    tar += *header + content;
    tar.append((kBlock - content.size() % kBlock) % kBlock, '\0');
  }
  tar.append(2 * kBlock, '\0');
  return compress(tar, MAX_WBITS + kGzip);
}

Result<std::string> deflated(std::string_view content) { return compress(content, MAX_WBITS); }

}  // namespace onelaunch::exporting
