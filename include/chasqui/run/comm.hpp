// SPDX-License-Identifier: MIT
// The communicator: collectives that programs call. It runs on a board (ranks of one node), on messages, or on both;
// which plan runs is decided by predicted cost. All ranks call the same collectives in the same order; several may be
// in flight. One rank's Comm is used by one thread at a time.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "chasqui/run/call.hpp"
#include "chasqui/run/choose.hpp"
#include "run/board/board.hpp"
#include "run/board/process_memory.hpp"
#include "run/comm/progress.hpp"
#include "run/comm/request.hpp"
#include "run/comm/typed.hpp"
#include "run/faults/departures.hpp"
#include "run/faults/gossip.hpp"
#include "run/messages/transport.hpp"
#include "run/wait/task.hpp"

namespace chasqui::run {

struct Program;

/// What a communicator is made of.
struct Fabric {
  int rank = 0;                            ///< this rank
  int size = 1;                            ///< ranks
  std::shared_ptr<Board> board;            ///< of the ranks on this rank's node, in rank order; may be missing
  std::shared_ptr<Transport> messages;     ///< between all ranks; may be missing when the board spans them
  std::vector<int> node_of;                ///< per rank; empty: one node
  bool shares_memory = false;              ///< threads of one process
  bool crowded = false;                    ///< more ranks on this rank's node than cores; a board knows by itself
  std::shared_ptr<Reach> reach;            ///< into the memory of the ranks on the board; on all ranks or on none
  std::shared_ptr<const Profile> profile;  ///< never missing; default_profile() where nothing was measured
  /// Lets the MPI library go on with the program's own messages. Called each time a waiting collective gives the core
  /// away (Backoff::pause says true: never while it spins, so not in a collective for which all are in time), and by test().
  std::function<void()> idle;
  std::shared_ptr<Departures> departures;  ///< where ranks know of each other that they have ended; may be missing
  Patience patience = {0, 0};  ///< after what time ranks that wait in vain compare their calls; the same on all ranks
  /// Called when that time is over: other communicators of this process may have something to answer.
  std::function<void(Comm&)> elsewhere;
  std::function<void(const Call&)> native;  ///< the MPI library's own collective; may be missing
  /// Makes the communicator of the ranks that pass the same colour, ordered by key, then rank; collective.
  std::function<std::unique_ptr<Comm>(Comm&, int colour, int key)> split;
};
/// Collectives for the ranks of one communicator; the typed calls are in Typed. Shares no line with another rank's.
class alignas(2 * kLine) Comm : public Typed<Comm> {
 public:
  explicit Comm(Fabric fabric);  ///< Collective: all ranks make theirs of the same fabric.
  ~Comm();                       ///< an exception on its way through here counts as leave()
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  int rank() const { return fabric_.rank; }                    ///< this rank
  int size() const { return fabric_.size; }                    ///< ranks
  const Terrain& terrain() const { return terrain_; }          ///< how the ranks lie
  const Profile& profile() const { return *fabric_.profile; }  ///< what the choice of methods goes by
  Transport* messages() const {
    return fabric_.messages.get();
  }  ///< the point-to-point messages below; nullptr where a board does everything
  int node_of(int rank) const { return fabric_.node_of[static_cast<std::size_t>(rank)]; }  ///< the node of a rank
  bool crowded() const {
    return fabric_.board != nullptr ? fabric_.board->crowded() : fabric_.crowded;
  }                                                              ///< more ranks on this node than cores
  bool has_native() const { return fabric_.native != nullptr; }  ///< can the MPI library be asked instead?

  /// Runs a collective to its end. Throws Error: bad arguments, sizes that disagree, another rank's failure.
  /// Bad arguments leave the communicator usable if all ranks pass them; after anything else every call fails.
  void run(const Call& call);

  /// Begins a collective. The buffers must stay until the request is complete; so must the operator's function, unless `kept`
  /// holds it: that is let go when the collective is complete.
  Request start(const Call& call, std::shared_ptr<const void> kept = nullptr);

  /// Begins an operation of one's own over the messages between all ranks, in order with the collectives.
  /// `kept` is let go when it is complete.
  Request launch(const std::function<Task(Group)>& make, std::shared_ptr<const void> kept = nullptr);

  /// Advances everything in flight here. True if something moved.
  bool progress();

  /// A communicator of the ranks that pass the same colour, ordered by key; nullptr for a negative colour. Collective: it ends
  /// what is in flight here first. The new one may outlive this one.
  std::unique_ptr<Comm> split(int colour, int key);

  /// Which methods are there for this call, the chosen one first.
  std::vector<Choice> choices_for(const Call& call) const;

  /// Forces a method (measurements and tests); Choice::method must be one that choices_for() lists.
  void force(std::optional<Choice> choice) { forced_ = std::move(choice); }

  /// Bad arguments: tells the ranks that wait in this collective, and throws the Error.
  [[noreturn]] void refuse(const std::string& why);

  /// Answers ranks that wait in vain in a call of this communicator, while this one waits elsewhere. If they called something
  /// else than this rank did, they get an Error, and so does this rank in its next call.
  void answer();

  /// Says to all ranks that this one will not come back: whoever waits for it gets an Error.
  void leave(const std::string& why);

  void
  rest();  ///< this rank makes no further call before resume(): who waits for it in one gets an Error, where that can be known
  void resume();  ///< it does. REQUIRES that no rank is in a call

  /// What this communicator stands on is gone: every later call throws an Error that says why, and so does what is in flight. Tells nobody.
  void retire(const std::string& why);

 private:
  friend class InFlight;
  friend class Request;
  struct Cached;

  bool board_spans_all() const { return spans_; }
  const Choice& choose(const Call& call, bool own = false);
  template <typename Small>
  void run_small(const Call& call);
  template <typename Small>
  void wait_for(Small& small, std::uint64_t number);
  void run_packed(const Call& call);
  void run_on_board(const Call& call, bool reaching);
  bool run_rehearsed(const Call& call);
  void run_native(const Call& call);
  void wait(Operation& operation);
  bool advance(Operation& operation);
  bool advance_all();
  bool advance_beside();
  void finish_in_flight();
  void take_in_flight(std::shared_ptr<Operation> operation);
  bool nothing_in_flight() { return !in_flight_.listed() || look_in_flight(); }
  bool look_in_flight();
  void fail(Operation& operation, std::exception_ptr error);
  void check_usable() const {
    if (!broken_.empty()) throw_broken();
  }
  [[noreturn]] void throw_broken() const;
  void check_arguments(const Call& call);
  void look_for_failure(std::uint64_t number);
  std::optional<Disagreement> compare_calls(std::uint64_t number);
  void note(std::uint64_t number, const Called& call, bool on_board = false);
  void pass_by(std::uint64_t number, const Called& call);
  void report(std::uint64_t first, std::uint64_t last, const std::string& why);
  void give_up(std::uint64_t number);

  Task task_of(Call call, Choice choice, std::uint32_t tag);
  Task on_board(Call call);
  Task by_messages(Group group, Call call, Choice choice);
  struct Between;
  Between between_nodes(const Call& call, std::uint32_t tag);
  Choice choose_between(const Call& call);
  std::vector<std::size_t> node_offsets(std::size_t bytes) const;
  void by_nodes(const std::byte* in, std::byte* out, std::size_t bytes, bool back) const;
  Task two_level(Call call, std::uint32_t tag);
  Task two_level_fold(Call call, Between between);
  Task two_level_gather(Call call, Between between);
  Task two_level_scatter(Call call, Between between);
  Task two_level_scan(Call call, Between between);
  std::shared_ptr<const Program> program_for(const Group& group, const Call& call, const Choice& choice);
  std::shared_ptr<const Program> blocks_between(const Between& between, const Call& outer,
                                                const std::vector<std::size_t>& offsets);
  const Level& level() const;

  Fabric fabric_;
  Terrain terrain_;
  bool spans_;                           ///< the board spans all ranks
  std::vector<std::vector<int>> nodes_;  ///< members of each node, in rank order
  std::vector<int> place_;               ///< per rank: index inside its node
  std::deque<std::shared_ptr<Operation>> pending_;
  std::uint64_t number_ = 0;
  unsigned looks_ = 0;  ///< for failures elsewhere
  RecentCalls calls_;   ///< unless a board remembers them
  Stall stall_;
  std::string broken_;
  int exceptions_;                      ///< on their way when this was made
  std::vector<std::uint64_t> refused_;  ///< collectives whose arguments this rank refused
  std::optional<Choice> forced_;
  std::unique_ptr<Cached> cached_;
  InFlight in_flight_{*this};  ///< listed while pending_ is not empty
};

}  // namespace chasqui::run
