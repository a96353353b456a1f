#include "providers/ofi/survey.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/quoted.h"
#include "providers/ofi/features.h"
#include "providers/ofi/handles.h"
#include "providers/ofi/interfaces.h"
#include "providers/ofi/kernel_symbols.h"
#include "providers/ofi/native_tcp.h"

namespace fab::ofi {

namespace {

constexpr std::size_t kLongestShown = 60;
constexpr unsigned long long kAnyOrder = 0;

/// What carries the bytes: a card that writes into memory by itself, any other network card, or the kernel.
enum class Carrier { writing_card, card, kernel };

struct Preference {
  const char* provider;
  const char* reason;
  Carrier carrier = Carrier::kernel;
};

/// Best first. Providers that drive a network card of their own come ahead of TCP. The native TCP endpoint blocks and
/// polls equally fast, while ofi_rxm over TCP takes ten times as long to wake.
constexpr Preference kPreferences[] = {
    {"cxi", "Slingshot network card", Carrier::writing_card},
    {"verbs;ofi_rxm", "InfiniBand or RoCE network card", Carrier::writing_card},
    {"opx", "Omni-Path network card", Carrier::writing_card},
    {"psm2", "Omni-Path network card", Carrier::card},
    {"psm3", "network card through PSM3", Carrier::card},
    {"efa", "EFA network card", Carrier::card},
    {"tcp", "native TCP endpoint"},
    {"net", "native TCP endpoint"},
    {"tcp;ofi_rxm", "TCP with messages layered on top"},
    {"sockets", "TCP, deprecated provider"},
    {"udp;ofi_rxd", "UDP with reliability layered on top"},
    {"shm", "shared memory, polls only"},
    {"sm2", "shared memory, polls only"},
};

const Preference* preference(const std::string& provider) {
  const auto* found = std::find_if(std::begin(kPreferences), std::end(kPreferences),
                                   [&](const Preference& row) { return provider == row.provider; });
  return found == std::end(kPreferences) ? nullptr : found;
}

bool is_card(const Candidate& candidate) { return drives_card(candidate.provider); }

bool stays_on_its_node(std::string_view provider) { return provider == "shm" || provider == "sm2"; }

/// FAB_PROVIDER: the user's word for what stands in the table, or libfabric's own name.
bool means(std::string_view word, std::string_view provider) {
  if (word.empty() || word == "auto" || word == provider) return true;
  if (word == "verbs") return provider == "verbs;ofi_rxm";
  return is_native_tcp(word) && is_native_tcp(provider);
}

/// The layer below InfiniBand's own addresses. Over Ethernet libfabric lists them but cannot open what has them.
bool is_infiniband_over_ethernet(const fi_info& info) {
  const char* network =
      info.nic == nullptr || info.nic->link_attr == nullptr ? nullptr : info.nic->link_attr->network_type;
  return info.addr_format == FI_SOCKADDR_IB && network != nullptr && std::string_view(network) == "Ethernet";
}

std::size_t rank_of(const Candidate& candidate) {
  const Preference* row = preference(candidate.provider);
  return row == nullptr ? std::size(kPreferences) : static_cast<std::size_t>(row - kPreferences);
}

const sockaddr* source_address(const fi_info& info) {
  const bool internet = info.addr_format == FI_SOCKADDR_IN || info.addr_format == FI_SOCKADDR_IN6 ||
                        info.addr_format == FI_SOCKADDR || info.addr_format == FI_SOCKADDR_IB;
  if (!internet || info.src_addr == nullptr || info.addr_format == FI_SOCKADDR_IB) return nullptr;
  return static_cast<const sockaddr*>(info.src_addr);
}

/// Messages that find the kernel's buffers full libfabric's TCP puts aside and calls them sent. They would leave with
/// its next poll, which may be long in coming. It reads this with the first fi_getinfo of the process; where another
/// library was faster, the progress thread sees to them (Capabilities::may_hold_back).
void have_sent_mean_sent() {
  for (const char* size_of_aside : {"FI_NET_STAGING_SBUF_SIZE", "FI_TCP_STAGING_SBUF_SIZE"})
    ::setenv(size_of_aside, "0", 0);
}

/// The provider that is best here unless something is unusual; empty: it takes a look at all to tell.
std::string likely_provider(const Config& config) {
  if (is_native_tcp(config.provider)) return native_tcp();
  if (config.provider == "verbs") return "verbs;ofi_rxm";
  if (!config.provider.empty() && config.provider != "auto") return config.provider;
  return has_network_card() ? std::string() : native_tcp();
}

/// The process's first question starts libfabric.
int ask(const fi_info& hints, fi_info*& list) {
  static std::mutex mutex;
  static bool has_started = false;
  const std::lock_guard lock(mutex);
  std::optional<KernelSymbolsUnread> spared;
  if (!std::exchange(has_started, true) && !has_network_card()) spared.emplace();
  return fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, &hints, &list);
}

/// What a user wrote, in a message.
std::string shown(const std::string& text) {
  return text.size() <= kLongestShown ? escaped(text) : in_quotes(text, kLongestShown);
}

}  // namespace

bool drives_card(const std::string& provider) {
  const Preference* row = preference(provider);
  return row != nullptr && row->carrier != Carrier::kernel;
}

Survey::Survey(const Config& config, const JobInfo& job, Extent extent) : config_(config), job_(job) {
  have_sent_mean_sent();
  choose_interface();
  query_likely();
  if (extent == Extent::all || settled_.empty()) query_all();
}

void Survey::choose_interface() {
  if (!config_.interface.empty()) {
    wanted_interface_ = config_.interface;
    wanted_because_ = "FAB_IFACE";
  } else if (job_.node_count <= 1) {
    wanted_interface_ = "lo";
    wanted_because_ = "all ranks are on one node";
  } else {
    wanted_interface_ = interface_towards(job_.other_nodes);
    wanted_because_ = "the route to the job's other nodes";
  }
}

// Asks for all that fab makes use of. Where the answer has what no other question could better, it is settled.
void Survey::query_likely() {
  const std::string likely = likely_provider(config_);
  const bool writes = config_.one_sided != OneSidedMode::off;
  query(FI_TAGGED | FI_DIRECTED_RECV | (writes ? FI_RMA : 0), FI_ORDER_SAS, kWriteDataBytes, likely);
  judge_all();
  if (candidates_.empty() || !candidates_.front().usable) return;
  if (!likely.empty() || is_card(candidates_.front())) settled_ = candidates_.front().provider;
}

void Survey::query_all() {
  // Messages of one tag between two ranks meet their receives in order. Where the provider does not see to it fab does.
  for (const unsigned long long order : {static_cast<unsigned long long>(FI_ORDER_SAS), kAnyOrder}) {
    if (config_.one_sided != OneSidedMode::off) {
      query(FI_TAGGED | FI_DIRECTED_RECV | FI_RMA, order, kWriteDataBytes);
      query(FI_TAGGED | FI_RMA, order, kWriteDataBytes);
    }
    query(FI_TAGGED | FI_DIRECTED_RECV, order, kWriteDataBytes);
    query(FI_TAGGED, order, kWriteDataBytes);
  }
  judge_all();
  if (!candidates_.empty() && candidates_.front().usable) return;
  query(FI_TAGGED, kAnyOrder, 0);  // to say what is wrong with them
  judge_all();
}

void Survey::judge_all() {
  for (Candidate& candidate : candidates_) {
    judge(candidate);
    judge_writes(candidate);
  }
  std::stable_sort(candidates_.begin(), candidates_.end(), [this](const Candidate& a, const Candidate& b) {
    const auto key = [this](const Candidate& c) {
      return std::tuple(!c.usable, c.provider != settled_, rank_of(c), c.interface != wanted_interface_,
                        is_link_local(source_address(*c.info)), c.info->addr_format == FI_SOCKADDR_IN6);
    };
    return key(a) < key(b);
  });
}

Survey::~Survey() {
  for (fi_info* list : lists_) fi_freeinfo(list);
}

// Asks for little and allows much: what comes back says what must be honoured.
void Survey::query(unsigned long long capabilities, unsigned long long order, std::size_t data_bytes,
                   const std::string& provider) {
  const InfoHandle hints(fi_allocinfo());
  if (!hints) throw Error(Errc::no_resources, "fi_allocinfo: out of memory");
  hints->caps = capabilities;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->msg_order = order;
  hints->rx_attr->msg_order = order;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->cq_data_size = data_bytes;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ENDPOINT | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
  if (!provider.empty() && (hints->fabric_attr->prov_name = ::strdup(provider.c_str())) == nullptr)
    throw Error(Errc::no_resources, "strdup: out of memory");
  fi_info* list = nullptr;
  const int result = ask(*hints, list);
  if (result == -FI_ENODATA) return;
  check(result, "fi_getinfo", provider.empty() ? "all providers" : provider);
  lists_.push_back(list);
  for (fi_info* info = list; info != nullptr; info = info->next) add(info);
}

// Later queries repeat what the first ones found, with fewer capabilities.
void Survey::add(fi_info* info) {
  Candidate candidate;
  candidate.provider = info->fabric_attr->prov_name;
  candidate.domain = info->domain_attr->name;
  candidate.address = host_part(to_string(source_address(*info)));
  candidate.interface = interfaces_.of(source_address(*info));
  candidate.info = info;
  const bool known = std::any_of(candidates_.begin(), candidates_.end(), [&](const Candidate& other) {
    return other.provider == candidate.provider && other.domain == candidate.domain &&
           other.address == candidate.address;
  });
  if (!known) candidates_.push_back(std::move(candidate));
}

// What the user asks for binds all that is on a network. Where the job only has a wish, cards are free of it: they have
// no loopback interface, and reach other nodes by ways of their own.
bool Survey::interface_matters(const Candidate& candidate) const {
  if (wanted_interface_.empty() || stays_on_its_node(candidate.provider)) return false;
  if (!config_.interface.empty()) return true;
  return !candidate.interface.empty() && !is_card(candidate);
}

void Survey::judge(Candidate& candidate) const {
  const auto refuse = [&candidate](std::string reason) {
    candidate.usable = false;
    candidate.reason = std::move(reason);
  };
  if (!means(config_.provider, candidate.provider))
    return refuse(fmt::format("FAB_PROVIDER={} selects another provider", shown(config_.provider)));
  if (const std::string_view fault = fault_of(candidate.provider); !fault.empty()) return refuse(std::string(fault));
  if (stays_on_its_node(candidate.provider) && job_.node_count > 1)
    return refuse("does not reach the job's other nodes");
  if (is_infiniband_over_ethernet(*candidate.info)) return refuse("an InfiniBand address on an Ethernet");
  if (interface_matters(candidate) && candidate.interface != wanted_interface_ &&
      candidate.domain != wanted_interface_ && candidate.address != wanted_interface_)
    return refuse(fmt::format("interface {} is required ({})", shown(wanted_interface_), wanted_because_));
  if (candidate.interface == "lo" && job_.node_count > 1) return refuse("loopback does not reach other nodes");
  if (const unsigned bits = bits_to_guess(*candidate.info); bits < kFewestBitsToGuess)
    return refuse(
        fmt::format("a stranger would have to guess only {} bits to forge a message; at least {} are required", bits,
                    kFewestBitsToGuess));
  const Preference* row = preference(candidate.provider);
  candidate.reason = row == nullptr ? "not in the table of preferences" : row->reason;
  if (!candidate.interface.empty() && candidate.interface == wanted_interface_)
    candidate.reason += fmt::format("; {}", wanted_because_);
}

void Survey::judge_writes(Candidate& candidate) const {
  const fi_info& info = *candidate.info;
  const Preference* row = preference(candidate.provider);
  const auto decide = [&candidate](bool writes, const char* reason) {
    candidate.writes = writes;
    candidate.writes_reason = reason;
  };
  if (config_.one_sided == OneSidedMode::off) return decide(false, "FAB_ONE_SIDED=off");
  if (config_.check) return decide(false, "FAB_CHECK compares messages");
  if ((info.caps & FI_RMA) == 0) return decide(false, "the provider has no one-sided writes");
  if (!writes_carry_data(info))
    return decide(false, "the provider's writes carry no data of 4 bytes to the target's completion queue");
  if (config_.one_sided == OneSidedMode::on) return decide(true, "FAB_ONE_SIDED=on");
  if (row != nullptr && row->carrier == Carrier::writing_card) return decide(true, "the network card writes");
  decide(false, "no network card writes; FAB_ONE_SIDED=on has the provider do it");
}

const Candidate& Survey::best() const {
  if (!candidates_.empty() && candidates_.front().usable) return candidates_.front();
  std::string offers;
  for (const Candidate& candidate : candidates_)
    offers += fmt::format("\n  {} on {}: {}", candidate.provider, candidate.domain, candidate.reason);
  throw Error(Errc::unreachable,
              fmt::format("no libfabric provider fits (FAB_PROVIDER={}, interface {}, {}); there are:{}",
                          config_.provider.empty() ? "any" : shown(config_.provider),
                          wanted_interface_.empty() ? "any" : shown(wanted_interface_), wanted_because_,
                          offers.empty() ? " none" : offers));
}

// The machine's interfaces are read in microseconds, libfabric's domains in tens of milliseconds.
void check_interface(const Config& config, const JobInfo& job) {
  const std::string& wanted = config.interface;
  if (wanted.empty()) return;
  const auto is_among = [&wanted](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), wanted) != names.end();
  };
  const std::vector<std::string> interfaces = interface_names();
  if (is_among(interfaces) || is_among(interface_addresses())) return;
  std::vector<std::string> domains;
  const Survey survey(config, job);
  for (const Candidate& candidate : survey.candidates()) {
    if (candidate.domain == wanted || candidate.address == wanted) return;
    if (std::find(domains.begin(), domains.end(), candidate.domain) == domains.end())
      domains.push_back(candidate.domain);
  }
  throw Error(
      Errc::configuration,
      fmt::format("FAB_IFACE: {} is neither an interface of this node nor a domain of libfabric. Interfaces: {}. "
                  "Domains: {}",
                  in_quotes(wanted), fmt::join(interfaces, ", "), fmt::join(domains, ", ")));
}

std::string library_version() {
  const std::uint32_t version = fi_version();
  return fmt::format("{}.{}", FI_MAJOR(version), FI_MINOR(version));
}

}  // namespace fab::ofi
