// SPDX-License-Identifier: MIT
// Any bytes are an Error with file and line, or races as `chasqui tune --resume` reads them, which pass through their file unchanged
// and of which rules can be made and written.
#include <cstdint>
#include <map>

#include "chasqui/base/error.hpp"
#include "chasqui/model/profile.hpp"
#include "chasqui/tune/tuner.hpp"
#include "require.hpp"

using namespace chasqui;

namespace {

/// They do not depend on the input.
const std::vector<tune::Forecast>& forecasts(const tune::TunerOptions& options) {
  static std::map<tune::Library, std::vector<tune::Forecast>> known;
  std::vector<tune::Forecast>& list = known[options.library];
  for (const tune::CollectiveName& name : tune::collectives()) {
    if (list.size() < tune::collectives().size()) list.emplace_back(options, name, default_profile());
  }
  return list;
}

void rules_of(const std::vector<tune::Cell>& cells, const tune::TunerOptions& options) {
  tune::Rules rules{options.library, {}};
  for (const tune::Forecast& forecast : forecasts(options)) {
    tune::next_race(options, forecast, cells);
    const tune::Choice choice = tune::choose(options, forecast, cells);
    if (!choice.steps.empty()) rules.choices.push_back(choice);
  }
  if (options.library == tune::Library::mpich) {
    tune::mpich_json(rules);
  } else {
    tune::openmpi_classic(rules);
    tune::openmpi_version_2(rules);
    tune::openmpi_json(rules);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const tune::Library library : {tune::Library::openmpi, tune::Library::mpich}) {
    const tune::TunerOptions options{.library = library, .ranks = 8, .largest = 65536};
    std::vector<tune::Cell> cells;
    try {
      cells = tune::cells_from_csv(text, "input", options);
    } catch (const Error& error) {
      require(std::string_view(error.what()).substr(0, 6) == "input:", "the message opens with the place");
      continue;
    }
    const std::string written = tune::to_csv(cells, options);
    require(tune::to_csv(tune::cells_from_csv(written, "again", options), options) == written, "the file is stable");
    if (size < 4096) rules_of(cells, options);
  }
  return 0;
}
