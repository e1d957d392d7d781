#include "explain/html.hpp"

#include <cctype>

#include "strings/expression_reader.hpp"

namespace zellige::explain {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string linked(std::string_view code, const std::set<std::string>& ids, const std::string& prefix) {
  std::string out;
  for (std::size_t i = 0; i < code.size();) {
    std::size_t end = i;
    while (end < code.size() && strings::continues_name(code[end])) ++end;
    if (end == i) {
      out += escaped(code.substr(i++, 1));
      continue;
    }
    const std::string word(code.substr(i, end - i));
    out += ids.contains(word) ? fmt::format("<a class=\"id\" data-id=\"{0}\" href=\"#{1}{0}\">{0}</a>", word, prefix)
                              : word;
    i = end;
  }
  return out;
}

std::string table(const std::vector<std::string>& headings, const std::vector<std::vector<std::string>>& rows,
                  const std::string& caption) {
  std::string out = fmt::format("<div class=\"wide\"><table><caption>{}</caption><thead><tr>", escaped(caption));
  for (const std::string& h : headings) out += fmt::format("<th scope=\"col\">{}</th>", escaped(h));
  out += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    out += "<tr>";
    for (const std::string& cell : row) {
      const bool number = !cell.empty() && std::isdigit(static_cast<unsigned char>(cell[0]));
      out += fmt::format("<td{}>{}</td>", number ? " class=\"number\"" : "", escaped(cell));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string_view style() {
  return R"css(
:root{--ink:#1b1f24;--paper:#fff;--faint:#667;--line:#ccd;--accent:#0b57d0;--work:#3b7dd8;--flight:#8fb8ec;--wait:#e2a33b;--panel:#f5f6f9}
@media (prefers-color-scheme:dark){:root{--ink:#e6e8ee;--paper:#14171c;--faint:#9aa3b2;--line:#39404c;--accent:#8ab4f8;--work:#5b96ea;--flight:#33527d;--wait:#b77d1d;--panel:#1d2129}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1200px;padding:16px;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.5rem;margin:.2em 0}h2{font-size:1.25rem;margin:1.6em 0 .4em;border-bottom:1px solid var(--line)}h3{font-size:1.05rem;margin:1.2em 0 .3em}
p{margin:.4em 0;max-width:75ch}.lead{font-size:1.1rem}
a{color:var(--accent)}a:focus-visible,summary:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.wide{overflow-x:auto}
table{border-collapse:collapse;margin:.6em 0;font-size:.9rem}caption{text-align:left;color:var(--faint)}
th,td{border-bottom:1px solid var(--line);padding:3px 10px;text-align:left;vertical-align:top}td.number{text-align:right;font-variant-numeric:tabular-nums}
pre{margin:0;padding:10px;background:var(--panel);overflow:auto;max-height:75vh;font:12px/1.45 ui-monospace,monospace;tab-size:2}
pre .waits{color:var(--wait)}pre .line{color:var(--faint);user-select:none}
a.id{color:inherit;text-decoration:underline dotted}a.id.on,tr.on{background:var(--wait);color:#000}
.two{display:grid;grid-template-columns:1fr;gap:12px}@media(min-width:1000px){.two{grid-template-columns:1fr 1fr}}
.three{display:grid;grid-template-columns:1fr;gap:12px}@media(min-width:1000px){.three{grid-template-columns:1fr 1fr 1fr}}
.two>div,.three>div{min-width:0}
svg text{font:12px system-ui,sans-serif;fill:var(--ink)}svg .faint{fill:var(--faint)}
svg .box{fill:var(--panel);stroke:var(--line)}svg .edge{stroke:var(--faint);fill:none}
svg .work{fill:var(--work)}svg .flight{fill:var(--flight)}svg .wait{fill:var(--wait)}svg .grid{stroke:var(--line)}
.banks{display:flex;flex-wrap:wrap;gap:18px}figure{margin:.4em 0}figcaption{font-size:.9rem;color:var(--faint);max-width:60ch}
.key span{display:inline-block;width:.9em;height:.9em;margin:0 .3em 0 1em;vertical-align:-.1em}
summary{cursor:pointer;font-weight:600;margin:.6em 0}
)css";
}

std::string_view script() {
  return R"js(
document.addEventListener('click',function(e){
  var a=e.target.closest('a.id'); if(!a) return;
  var section=a.closest('section')||document, on=!a.classList.contains('on');
  section.querySelectorAll('.on').forEach(function(x){x.classList.remove('on')});
  if(on) section.querySelectorAll('[data-id="'+CSS.escape(a.dataset.id)+'"]').forEach(function(x){x.classList.add('on')});
  var first=on&&section.querySelectorAll('pre'); if(first) first.forEach(function(p){var x=p.querySelector('.on');
    if(x&&x!==a&&!p.contains(a)) p.scrollTop=x.offsetTop-p.offsetTop-40;});
  e.preventDefault();
});
)js";
}

}  // namespace zellige::explain
