// SPDX-License-Identifier: MIT
// chasqui doctor: what this machine and this build have, and what follows from what they lack.
#include <sched.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "chasqui/base/error.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/help.hpp"
#include "cli/launch/drop_in.hpp"
#include "cli/launch/launchers.hpp"
#include "cli/launch/loopback_server.hpp"
#include "run/wait/cores.hpp"

namespace chasqui::cli {
namespace {

/// Can a process read the memory of another one of the same user that is not its child? Two children are asked.
bool copies_between_processes() {
  static const int word = 42;
  const pid_t other = fork();
  if (other == 0) {
    for (;;) pause();
  }
  const pid_t reader = other < 0 ? -1 : fork();
  if (reader == 0) {
    int found = 0;
    const iovec here{&found, sizeof found}, there{const_cast<int*>(&word), sizeof word};
    _exit(process_vm_readv(other, &here, 1, &there, 1, 0) == sizeof word && found == word ? 0 : 1);
  }
  int status = 1;
  if (reader > 0) waitpid(reader, &status, 0);
  if (other > 0) {
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool threads_can_be_pinned() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 && sched_setaffinity(0, sizeof allowed, &allowed) == 0;
}

class DoctorCommand final : public Command {
 public:
  DoctorCommand() : Command("doctor", "say what this machine and build have, and what to do about the rest") {
    describe(
        "Looks at the cores, the memory that processes share, copies between processes, binding to cores, the MPI "
        "libraries and the parts of this build. Changes nothing. The exit status is 0, whatever it finds.");
    example("chasqui doctor", "before the first measurement");
  }

  int run(Output& out) override {
    machine(out);
    libraries(out);
    build(out);
    return 0;
  }

 private:
  static void line(Output& out, bool good, const std::string& what, const std::string& found,
                   const std::string& follows) {
    const std::string mark = good ? out.good("ok") : out.bad("--");
    const std::string text = follows.empty() || good ? found : found + ": " + follows;
    out.print("{}  {:<18} {}\n", mark, what, wrap(text, 23, static_cast<std::size_t>(out.width())));
  }

  static void machine(Output& out) {
    const int cores = chasqui::run::available_cores();
    line(out, cores > 1, "cores", fmt::format("{}", cores), "ranks take turns, and times say little");
    double load = 0;
    const bool quiet = getloadavg(&load, 1) != 1 || load < 0.25 * cores + 0.25;
    line(out, quiet, "quiet", quiet ? "yes" : fmt::format("no, the load is {:.1f}", load),
         "measurements take longer, and their intervals are wider");
    struct statvfs room {};
    const bool has_shm = statvfs("/dev/shm", &room) == 0;
    const double mebibytes = static_cast<double>(room.f_bavail) * static_cast<double>(room.f_frsize) / (1 << 20);
    line(out, has_shm && mebibytes >= 256, "shared memory",
         has_shm ? fmt::format("{:.0f} MiB free in /dev/shm", mebibytes) : "no /dev/shm",
         "processes of a node fall back to messages where it is too small (a container: --shm-size=1g)");
    const bool copies = copies_between_processes();
    line(
        out, copies, "copies across", copies ? "a process can read another's memory" : "refused",
        "long gathers and scatters of processes are copied twice (/proc/sys/kernel/yama/ptrace_scope is 0, or a container has "
        "the capability SYS_PTRACE)");
    const bool pins = threads_can_be_pinned();
    line(out, pins, "pinning", pins ? "threads can be bound to cores" : "refused",
         "threads wander, and small collectives are slower");
  }

  static void libraries(Output& out) {
    bool any = false;
    for (const char* flavour : {"openmpi", "mpich"}) {
      const std::string launcher = fmt::format("mpirun.{}", flavour);
      std::string version = version_of(launcher);
      const bool there = flavour_of_version(version) == flavour;
      const std::size_t number = version.find("Version:");  // Hydra says it in a line of its own
      if (number != std::string::npos) version = "Hydra " + version.substr(version.find_first_not_of(' ', number + 8));
      version = there ? version.substr(0, version.find('\n')) : "not found";
      any = any || there;
      line(out, there, flavour, version,
           fmt::format("apt install {}, if your programs use it",
                       flavour == std::string("mpich") ? "mpich" : "openmpi-bin"));
      if (!there) continue;
      std::string library, missing;
      try {
        library = drop_in_library(flavour);
      } catch (const Error& error) {
        missing = error.what();
      }
      line(out, missing.empty(), "  drop-in library", missing.empty() ? library : "none that `chasqui run` can use",
           missing);
    }
    const std::string first = flavour_of_version(version_of("mpirun"));
    if (any)
      line(out, !first.empty(), "mpirun", first.empty() ? "not one of these" : "is of " + first,
           "name the launcher: mpirun.openmpi, mpirun.mpich");
  }

  static void build(Output& out) {
    std::string missing;
    for (const CommandEntry& entry : command_entries()) {
      if (entry.make == nullptr)
        missing += fmt::format("{}{} (room {})", missing.empty() ? "" : ", ", entry.name, entry.missing);
    }
    line(out, missing.empty(), "commands", missing.empty() ? "all built" : "without " + missing,
         "scripts/install-packages, then build again");
    std::error_code none;
    const std::string page = explorer_page();
    const bool explorer = std::filesystem::exists(page, none);
    line(out, explorer, "explorer page", explorer ? page : "not built",
         "cmake --build build/dev --target explorer_page (needs emscripten)");
  }
};

}  // namespace

CommandPtr make_doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace chasqui::cli
