#include "explain/account.hpp"
#include "json/json_text.hpp"

namespace zellige::explain {
namespace {

using json::Json;

template <class T, class F>
Json list(const std::vector<T>& all, const F& of) {
  Json out = Json::array();
  for (const T& one : all) out.push_back(of(one));
  return out;
}

Json graph_json(const GraphAccount& g) {
  return {{"tensors",
           list(g.tensors,
                [](const TensorAccount& t) {
                  return Json{
                      {"name", t.name}, {"dtype", t.dtype}, {"shape", t.shape}, {"role", t.role}, {"bytes", t.bytes}};
                })},
          {"operators", list(g.operators, [](const OperatorAccount& o) {
             return Json{{"kind", o.kind}, {"reads", o.reads}, {"writes", o.writes}, {"flops", o.flops}};
           })}};
}

Json shared_json(const SharedAccount& s) {
  return {{"id", s.id},
          {"name", s.name},
          {"dtype", s.dtype},
          {"shape", s.shape},
          {"layout", s.layout},
          {"reason", s.reason},
          {"why", s.why},
          {"wavefronts", s.wavefronts},
          {"dense_wavefronts", s.dense},
          {"stages", s.stages},
          {"offset", s.offset},
          {"bytes", s.bytes},
          {"first_line", s.first},
          {"last_line", s.last}};
}

std::string_view name(Span::Kind kind) {
  return kind == Span::Kind::work ? "work" : kind == Span::Kind::flight ? "flight" : "wait";
}

Json register_json(const RegisterAccount& r) {
  return {{"id", r.id},           {"shape", r.shape},     {"instruction", r.instruction},
          {"threads", r.threads}, {"values", r.values},   {"copies", r.copies},
          {"rows", r.rows},       {"columns", r.columns}, {"thread", r.thread},
          {"value", r.value}};
}

Json kernel_json(const KernelAccount& k) {
  Json counters = Json::object();
  for (const auto& [counter, n] : k.counters) counters[counter] = n;
  return {
      {"name", k.name},
      {"plan", list(k.plan,
                    [](const PlanLine& l) {
                      return l.reason.empty() ? Json{{"text", l.text}} : Json{{"text", l.text}, {"waits", l.reason}};
                    })},
      {"computes", k.computes},
      {"waits",
       list(k.waits,
            [](const WaitAccount& w) {
              return Json{
                  {"line", w.line}, {"agent", w.agent}, {"where", w.where}, {"step", w.step}, {"reason", w.reason}};
            })},
      {"notes", k.notes},
      {"shared", list(k.shared, shared_json)},
      {"registers", list(k.registers, register_json)},
      {"sass", k.sass},
      {"counters", std::move(counters)},
      {"timeline",
       {{"agents", k.timeline.agents},
        {"iterations", k.timeline.iterations},
        {"of", k.timeline.of},
        {"spans", list(k.timeline.spans, [](const Span& s) {
           return Json{
               {"agent", s.agent}, {"what", s.what}, {"begin", s.begin}, {"end", s.end}, {"kind", name(s.kind)}};
         })}}}};
}

Json launch_json(const LaunchAccount& l) {
  Json resources = Json::object();
  for (const ResourceAccount& r : l.resources) resources[r.name] = r.us;
  return {{"name", l.name},
          {"bound", l.bound},
          {"time", l.time},
          {"exposed_us", l.exposed_us},
          {"operators", l.operators},
          {"us", l.us},
          {"limit_us", l.limit_us},
          {"resources", std::move(resources)},
          {"dram_bytes", l.dram_bytes},
          {"grid", l.grid},
          {"block", l.block},
          {"cluster", l.cluster},
          {"shared_bytes", l.shared_bytes},
          {"registers", l.registers},
          {"resident_blocks", l.resident},
          {"resident_warps", l.warps},
          {"max_warps", l.max_warps},
          {"waves", l.waves},
          {"kernels", list(l.kernels, kernel_json)}};
}

}  // namespace

std::string to_json(const Account& a) {
  Json out{{"graph", a.graph},     {"target", a.target},     {"us", a.us},
           {"warm_us", a.warm_us}, {"limit_us", a.limit_us}, {"costs_measured", a.measured_costs}};
  if (a.measured_us > 0) out["measured_us"] = a.measured_us, out["device"] = a.device;
  out["given"] = graph_json(a.given), out["fused"] = graph_json(a.fused), out["notes"] = a.notes,
  out["rules"] = a.rules;
  if (a.separate_us > 0) out["separate"] = {{"us", a.separate_us}, {"launches", a.separate_launches}};
  out["launches"] = list(a.launches, launch_json);
  out["tiling"] = Json::parse(a.own_tiling);
  out["alternatives"] = list(a.alternatives, [](const Alternative& o) {
    return Json{{"us", o.us},
                {"lost_on", o.lost_on},
                {"difference", o.difference},
                {"why", o.why},
                {"tiling", Json::parse(o.tiling)}};
  });
  return out.dump(2) + "\n";
}

}  // namespace zellige::explain
