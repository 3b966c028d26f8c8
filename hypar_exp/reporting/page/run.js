// What a run's plan comes to, recomputed from tables of the costs of every state that a layer can be in: `costs` is
// explained in run_page.py.
function evaluate(page, plan) {
  const c = page.costs, layers = page.layers.length;
  const state = new Array(layers).fill(0);
  const bytesOf = plan.map(() => new Array(layers).fill(0)), timeOf = plan.map(() => new Array(layers).fill(0));
  let joules = 0;
  plan.forEach((row, level) => {
    const index = row.map((choice, layer) => state[layer] * page.splits.length + choice);
    for (const kind of c.kinds) {
      const exchange = (layer, amount) => {
        const bytes = amount(kind.elements) * kind.element_bytes;
        const tensors = kind.tensors ? amount(kind.tensors) : 0;
        bytesOf[level][layer] += bytes;
        timeOf[level][layer] += bytes * kind.seconds_per_byte[level] + tensors * kind.seconds_per_tensor[level];
        joules += bytes * kind.joules_per_byte[level];
      };
      index.forEach((at, layer) => exchange(layer, tables => tables.within[level][layer][at]));
      c.edges.forEach(([producer, consumer], edge) => {
        const at = row[producer] * kind.row[level] + index[consumer];
        exchange(consumer, tables => tables.between[level][edge][at]);
      });
    }
    row.forEach((choice, layer) => { state[layer] += c.digits[level][choice]; });
  });
  const slowest = (key, layer) => Math.max(...c.kinds.map(kind => stateOf(kind[key][layer], state[layer])));
  const arithmetic = state.map((_, layer) => slowest("arithmetic_time_s", layer));
  const dram = state.map((_, layer) => slowest("dram_time_s", layer));
  const compute = dram.map((seconds, layer) => Math.max(seconds, arithmetic[layer]));
  const time = timeOf.map(sum), communication = sum(bytesOf.map(sum));
  const energy = c.kinds.map(kind => sum(state.map((s, layer) => stateOf(kind.leaf_energy_j[layer], s))));
  const result = {
    bytesOf, timeOf, time, compute, state,
    dramBound: dram.map((seconds, layer) => seconds > arithmetic[layer]),
    totals: {
      step_time_s: sum(compute) + sum(time),
      compute_time_s: sum(compute),
      communication_time_s: sum(time),
      step_energy_j: sum(energy) + joules,
      communication_bytes: communication,
    },
  };
  if (c.kept_bytes) {
    result.totals.memory_per_accelerator_bytes =
      sum(state.map((s, layer) => c.kept_bytes[layer][s])) + Math.max(...state.map((s, layer) => c.moment_bytes[layer][s]));
  }
  return result;
}

const stateOf = (values, state) => values[values.length > 1 ? state : 0];  // one value: all states cost the same

function ratio(value, base) {
  if (!(value > 0) || !(base > 0)) return "";
  if (Math.abs(value / base - 1) < 5e-4) return "same";
  const [times, word] = value < base ? [base / value, "less"] : [value / base, "more"];
  return `${times < 100 ? times.toPrecision(3) : Math.round(times).toLocaleString("en")}x ${word}`;
}

class RunPage {
  constructor(page) {
    this.page = page;
    this.plan = page.plan.map(row => [...row]);
    this.own = evaluate(page, page.plan).totals;
    this.references = [[page.strategy, this.own], ...Object.entries(page.references).map(
      ([name, plan]) => [name, evaluate(page, plan).totals])];
    this.cells = page.plan.map(() => []);
    this.grid();
    this.buttons();
    this.show();
  }

  grid() {
    const head = element("tr", {}, element("th"));
    for (const layer of this.page.layers) head.append(element("th", { scope: "col" }, element("div", {}, element("span", { textContent: layer }))));
    const body = element("tbody");
    this.page.levels.forEach((name, level) => {
      const row = element("tr", {}, element("th", { scope: "row", textContent: name }));
      this.page.layers.forEach((layer, at) => {
        const dot = element("button", { type: "button", id: `dot-${level}-${at}` });
        dot.addEventListener("click", () => this.flip(level, at));
        for (const event of ["mouseenter", "focus"]) dot.addEventListener(event, () => this.explain(level, at));
        this.cells[level].push(dot);
        row.append(element("td", {}, dot));
      });
      body.append(row);
    });
    document.getElementById("plan").append(element("table", {}, element("thead", {}, head), body));
  }

  buttons() {
    const bar = document.getElementById("plans");
    const plans = { [`${this.page.strategy}'s plan`]: this.page.plan };
    for (const [name, plan] of Object.entries(this.page.references)) plans[`${name}'s plan`] = plan;
    for (const [name, plan] of Object.entries(plans)) {
      const button = element("button", { type: "button", textContent: name });
      button.addEventListener("click", () => { this.plan = plan.map(row => [...row]); this.show(); });
      bar.append(button);
    }
  }

  flip(level, layer) {
    this.plan[level][layer] = (this.plan[level][layer] + 1) % this.page.splits.length;
    this.show();
    this.explain(level, layer);
  }

  explain(level, layer) {
    const rows = this.page.splits.map((split, choice) => {
      const plan = this.plan.map(row => [...row]);
      plan[level][layer] = choice;
      const changed = evaluate(this.page, plan);
      const now = this.plan[level][layer] === choice;
      return element("tr", { className: now ? "now" : "" },
        element("td", { textContent: `${split.symbol} ${split.words}` }),
        element("td", { textContent: quantity(changed.bytesOf[level][layer], "B") }),
        element("td", { textContent: quantity(changed.timeOf[level][layer], "s") }),
        element("td", { textContent: quantity(changed.totals.step_time_s, "s") }),
        element("td", { textContent: quantity(changed.totals.communication_bytes, "B") }));
    });
    const head = element("tr");
    for (const title of ["if it were", "exchanged here", "in", "step time then", "communication then"]) head.append(element("th", { textContent: title }));
    document.getElementById("explained").replaceChildren(
      element("h3", { textContent: `${this.page.layers[layer]} at ${this.page.levels[level]}` }),
      element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
  }

  show() {
    const now = evaluate(this.page, this.plan);
    this.plan.forEach((row, level) => row.forEach((choice, layer) => {
      const split = this.page.splits[choice], dot = this.cells[level][layer];
      dot.textContent = split.symbol;
      dot.style.color = split.colour;
      dot.classList.toggle("changed", choice !== this.page.plan[level][layer]);
      dot.setAttribute("aria-label", `${this.page.layers[layer]} at ${this.page.levels[level]}: ${split.words}`);
    }));
    this.totals(now);
    this.bars("by-layer", this.page.layers, this.page.layers.map((_, layer) => [
      ["arithmetic", now.dramBound[layer] ? 0 : now.compute[layer]], ["dram", now.dramBound[layer] ? now.compute[layer] : 0],
      ["communication", sum(now.timeOf.map(row => row[layer]))]]));
    this.bars("by-level", this.page.levels, now.time.map(seconds => [["communication", seconds]]));
  }

  totals(now) {
    const shown = Object.entries(this.page.quantities).filter(([key]) => key in now.totals);
    const head = element("tr", {}, element("th"), element("th", { textContent: "this plan" }));
    for (const [name] of this.references) head.append(element("th", { textContent: name }), element("th", { textContent: `against ${name}` }));
    const rows = shown.map(([key, [title, unit]]) => {
      const row = element("tr", {}, element("th", { scope: "row", textContent: title }),
        element("td", { id: `total-${key}`, textContent: quantity(now.totals[key], unit) }));
      row.children[1].dataset.value = String(now.totals[key]);
      for (const [, totals] of this.references) {
        row.append(element("td", { textContent: quantity(totals[key], unit) }),
          element("td", { className: "ratio", textContent: ratio(now.totals[key], totals[key]) }));
      }
      return row;
    });
    document.getElementById("totals").replaceChildren(
      element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
  }

  bars(id, names, stacks) {
    const most = Math.max(...stacks.map(parts => sum(parts.map(([, value]) => value)))) || 1;
    const rows = names.map((name, at) => {
      const total = sum(stacks[at].map(([, value]) => value));
      const bar = element("div", { className: "bar" });
      for (const [part, value] of stacks[at]) {
        if (value > 0) bar.append(element("span", { className: part, title: `${part}: ${quantity(value, "s")}`, style: `width:${100 * value / most}%` }));
      }
      return element("tr", {}, element("th", { scope: "row", textContent: name }), element("td", {}, bar),
        element("td", { className: "number", textContent: quantity(total, "s") }));
    });
    document.getElementById(id).replaceChildren(element("table", {}, element("tbody", {}, ...rows)));
  }
}

new RunPage(JSON.parse(document.getElementById("data").textContent));
