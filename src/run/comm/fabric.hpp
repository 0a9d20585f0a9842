// SPDX-License-Identifier: MIT
// What a communicator is made of, and what those say to it who made it or look below it: threads, mpi, the drop-in
// library, measurements.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "chasqui/run/comm.hpp"
#include "run/messages/transport.hpp"

namespace chasqui::run {

class Board;
class Departures;
class FaultChannel;
class ProcessMemory;
class Task;

struct Fabric {
  int rank = 0;                          ///< this rank
  int size = 1;                          ///< ranks
  std::shared_ptr<Board> board;          ///< of the ranks on this rank's node, in rank order; may be missing
  std::shared_ptr<Transport> messages;   ///< between all ranks; may be missing when the board spans them
  std::shared_ptr<FaultChannel> faults;  ///< beside them: who failed, and who waits in what; missing: nobody says
  Timing timing{};                       ///< of all ranks alike
  /// Of how many bytes the pieces are, but for the last, that a message of so many is cut into; missing: none is cut. The same
  /// on all ranks.
  std::function<std::size_t(std::size_t bytes)> piece;
  std::vector<int> node_of;    ///< per rank; empty: one node
  bool shares_memory = false;  ///< threads of one process
  bool crowded = false;        ///< more ranks on this rank's node than cores; a board knows by itself
  std::shared_ptr<ProcessMemory> process_memory;  ///< of the ranks on the board; on all ranks or on none
  std::shared_ptr<const Profile> profile;         ///< missing: default_profile()
  /// Lets the MPI library go on with the program's own messages. Called each time a waiting collective gives the core
  /// away (Backoff::pause says true: never while it spins, so not in a collective for which all are in time), and by test().
  std::function<void()> idle;
  std::shared_ptr<Departures> departures;  ///< where ranks know of each other that they have ended; may be missing
  Patience patience = {0, 0};  ///< after what time ranks that wait in vain compare their calls; the same on all ranks
  /// Called when that time is over: other communicators of this process may have something to answer.
  std::function<void(Comm&)> answer_others;
  std::uint64_t calls_before = 0;           ///< numbers of calls begin after this: for tests of what wraps
  std::function<void(const Call&)> native;  ///< the MPI library's own collective; may be missing
  /// Makes the communicator of the ranks that pass the same colour, ordered by key, then rank; collective.
  std::function<std::unique_ptr<Comm>(Comm&, int colour, int key)> split;
};

/// Collective: all ranks make theirs of the same fabric.
std::unique_ptr<Comm> make_comm(Fabric fabric);

/// As it was made, with nothing missing that may not be: `profile` is there, `node_of` has a node for each rank.
const Fabric& fabric_of(const Comm& comm);
bool crowded(const Comm& comm);  ///< more ranks on this node than cores
int node_of(const Comm& comm, int rank);

/// Begins an operation over the messages between all ranks, in order with the collectives. `kept` is let go when it is
/// complete.
Request launch(Comm& comm, const std::function<Task(Group)>& make, std::shared_ptr<const void> kept = nullptr);

/// As Comm::start(), but a short call gets so many turns at once, and costs no more than a blocking one if it ends in them: then the request
/// stays empty. Otherwise the call stays where it is until that has ended. again: it was started before, so its arguments are good. REQUIRES an
/// empty request.
void start_at_once(Comm& comm, const Call& call, int turns, bool again, Request& request);

/// Answers ranks that wait in vain in a call of this communicator, while this one waits in another one. If they called
/// something else than this rank did, they get an Error, and so does this rank in its next call. `leaves`: it makes no other
/// call, and whoever waits for it in one gets an Error, too.
void answer(Comm& comm, bool leaves = false);

void set_timeout(Comm& comm, double seconds);  ///< a call in which nothing moves for longer fails; 0: never

void rest(Comm& comm);    ///< no further call before resume(): who waits for one gets an Error, where that can be known
void resume(Comm& comm);  ///< REQUIRES that no rank is in a call

/// As Comm::run(), of a call like one that was run here: its data is contiguous, and its arguments are known to be good.
void run_again(Comm& comm, const Call& call);

/// For those who go on without a communicator that has failed.
bool broken(const Comm& comm);  ///< did a call fail that this rank's next one comes after, as far as its node knows?
struct CallNumbers {
  std::uint64_t begun = 0;     ///< the last call of this rank, from 1
  std::uint64_t complete = 0;  ///< the last one that some rank of this node has completed
  bool earlier = false;        ///< what the last call threw was said of one before it
  /// On a node where a call failed: calls of this rank's that went elsewhere where another rank made them here, before its last one that failed or before its next.
  std::uint64_t astray = 0;
  bool found_astray = false;  ///< by this rank
};
CallNumbers call_numbers(const Comm& comm);

/// The next collective of all ranks goes another way than this communicator, as some of its calls do: a rank of this node that waits
/// for this one in a call of its own gets an Error. REQUIRES that nothing is in flight.
void call_elsewhere(Comm& comm);

/// What this communicator stands on is gone: every later call throws an Error that says why, and so does what is in
/// flight. Tells nobody.
void retire(Comm& comm, const std::string& why);

}  // namespace chasqui::run
