// Module level: directives, variables, and the heads of functions.

#include <string>

#include "sandbox/emulator/ptx/body_parser.h"
#include "sandbox/emulator/ptx/declarations.h"
#include "sandbox/emulator/ptx/lexer.h"
#include "sandbox/emulator/ptx/module.h"
#include "sandbox/emulator/ptx/source_lines.h"

namespace onelaunch::emu::ptx {
namespace {

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text) : lexer_(text) {}

  Result<Module> parse() {
    while (!lexer_.at_end()) parse_item();
    if (lexer_.error()) return tl::unexpected<Error>(*lexer_.error());
    lines_.name_functions(module_.locations);
    return std::move(module_);
  }

 private:
  void parse_item() {
    const int line = lexer_.line();
    if (!lexer_.at_directive()) {
      return lexer_.fail(line, "unexpected " + quoted(lexer_.peek().text) + " outside a function");
    }
    const std::string_view word = lexer_.take().text;
    if (word == ".version") {
      module_.version = lexer_.take().text;
    } else if (word == ".target") {
      parse_target();
    } else if (word == ".address_size") {
      module_.address_bits = static_cast<int>(lexer_.expect_integer());
      if (module_.address_bits != 64) lexer_.fail(line, "only 64-bit addresses are implemented");
    } else if (word == ".file") {
      lines_.read_file(lexer_, module_.files);
    } else if (word == ".section") {
      lines_.read_section(lexer_);
    } else if (word == ".pragma") {
      lexer_.skip_to(';');
    } else if (word == ".loc") {
      lines_.read_location(lexer_, module_.locations, -1);
    } else {
      parse_declaration(word, line);
    }
  }

  void parse_target() {
    module_.target = lexer_.expect_word();
    while (lexer_.accept(',')) lexer_.take();
  }

  void parse_declaration(std::string_view word, int line) {
    bool external = false;
    while (word == ".extern" || word == ".visible" || word == ".weak" || word == ".common") {
      external |= word == ".extern";
      word = lexer_.expect_word();
    }
    if (word == ".entry" || word == ".func") {
      parse_function(word == ".entry", line);
    } else if (word == ".global") {
      parse_variables_of(Space::global, external);
    } else if (word == ".const") {
      parse_variables_of(Space::constant, external);
    } else if (word == ".shared") {
      parse_variables_of(Space::shared, external);
    } else {
      lexer_.fail(line, "directive " + std::string(word) + " is not implemented");
    }
  }

  void parse_variables_of(Space space, bool external) {
    parse_variables(lexer_, space, external, module_.variables);
    lexer_.expect(';');
  }

  std::vector<Variable> parse_parameters() {
    std::vector<Variable> parameters;
    while (!lexer_.at_end() && !lexer_.accept(')')) {
      const int line = lexer_.line();
      if (!lexer_.accept(".param")) lexer_.fail(line, "only .param parameters are implemented");
      parameters.push_back(parse_parameter(lexer_));
      if (!lexer_.at(')')) lexer_.expect(',');
    }
    return parameters;
  }

  void parse_function(bool entry, int line) {
    Function function;
    function.entry = entry;
    function.line = line;
    if (lexer_.accept('(')) function.results = parse_parameters();
    function.name = lexer_.expect_word();
    if (lexer_.accept('(')) function.parameters = parse_parameters();
    while (lexer_.at_directive()) parse_attribute(function);
    if (lexer_.accept(';')) return;  // a declaration; calls are refused by name when there is no body
    lexer_.expect('{');
    BodyParser(lexer_, lines_, module_, function).parse();
    module_.functions.push_back(std::move(function));
  }

  void parse_attribute(Function& function) {
    const int line = lexer_.line();
    const std::string_view word = lexer_.take().text;
    if (word == ".maxntid" || word == ".reqntid") {
      function.threads_max = parse_product();
    } else if (word == ".minnctapersm") {
      function.blocks_per_sm_min = parse_product();
    } else if (word == ".reqnctapercluster") {
      function.cluster_blocks = parse_product();
    } else if (word == ".maxnreg" || word == ".maxnctapersm" || word == ".maxclusterrank") {
      parse_product();  // what ptxas needs; nothing changes here
    } else if (word == ".pragma") {
      lexer_.skip_to(';');
    } else if (word != ".noreturn" && word != ".explicitcluster" && word != ".unified") {
      lexer_.fail(line, "function attribute " + std::string(word) + " is not implemented");
    }
  }

  int parse_product() {
    long long product = lexer_.expect_integer();
    while (lexer_.accept(',')) product *= lexer_.expect_integer();
    return static_cast<int>(product);
  }

  Lexer lexer_;
  SourceLines lines_;
  Module module_;
};

}  // namespace

Result<Module> parse(std::string_view text) { return ModuleParser(text).parse(); }

}  // namespace onelaunch::emu::ptx
