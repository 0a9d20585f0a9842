// SPDX-License-Identifier: MIT
#include "mpi/profile.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "mpi/together.hpp"

namespace chasqui::mpi {

std::shared_ptr<const Profile> profile_for_all(MPI_Comm comm, const char* path) {
  if (path == nullptr) path = std::getenv("CHASQUI_PROFILE");
  return make_together(comm, [&](Together& together) {
    std::string text;
    if (together.rank() == 0 && path != nullptr && *path != '\0') {
      // A pipe would be waited for, and the whole job with it.
      if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))
        throw Error("{}: is not a regular file: write the profile into one", path);
      text = to_json(read_profile(path));
    }
    together.most();
    text = text_of(together.talk(), 0, std::move(text));
    return std::make_shared<const Profile>(text.empty() ? default_profile()
                                                        : profile_from_json(text, "the profile of rank 0"));
  });
}

}  // namespace chasqui::mpi
