// Unit tests of everything that draws nothing.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { scale, ticks } from "./axes";
import { compact, joined } from "./distributions";
import { candidates, limit, nearest, price, roles, worthless } from "./choice";
import { binLabel, capital, duration, num, quoted, short, visible } from "./format";
import { csvCell } from "./home";
import { events } from "./live";
import { Model, keyOf, ordered, skewed, splitKey, staircase } from "./model";
import { rounded } from "./parallel";
import { verdict } from "./lattice";
import { pictureRows } from "./compare";
import { rates } from "./progress";
import { whole } from "./repeated";
import { changes, merged } from "./keeper";
import { fromFragment, initial, toFragment } from "./state";
import { checkPayload, type Axis, type Payload, type Run } from "./types";

const axes: Axis[] = [
  { name: "k", label: "smallest class", sense: "max", unit: "records", bounds: [1, null], sentence: "", concerns: "risk" },
  { name: "il", label: "information loss", sense: "min", unit: "%", bounds: [0, 100], sentence: "", concerns: "loss" },
];

const run: Run = {
  name: "run", label: "Run", called: "a", task: "pbg", task_title: "How far", algorithm: "NSGA2", algorithm_title: "NSGA-II", status: "finished", seeds: [1, 2], finished: true, found: 6, fingerprint: "", created: "",
  versions: {}, records: 10, kept: "10 records", data_digest: "", require: { k: { min: 2 } }, states: [], history: [],
  band: { evaluated: [], quantiles: [], seeds: 0 }, attributes: [], closed: "", leaving: [], repeat: "", shortlist: [],
};

const payload: Payload = {
  schema: "sdc-explorer/1", made_with: "0", axes, one_table: true, runs: [run],
  points: {
    id: ["1-0", "1-1", "2-0", "1-2", "baseline-all", "original"], run: [0, 0, 0, 0, 0, 0], seed: [1, 1, 2, 1, -1, -1],
    generation: [1, 1, 2, 3, -1, -1], kind: [0, 2, 2, 2, 3, 4], feasible: [1, 1, 1, 0, 1, 1],
    found: [0, 2, 1, 0, 0, 0],
    values: [[2, 50], [2, 20], [8, 40], [3, 35], [10, 100], [1, null]],
  },
};

const filter = {
  dominated: true, own: true, baselines: true, original: true, usable: false,
  hiddenRuns: new Set<number>(), hiddenSeeds: new Set<number>(), ranges: [null, null],
};

describe("model", () => {
  const model = new Model(payload);

  test("finds points by key and keeps keys with colons whole", () => {
    assert.equal(model.find("0:2-0"), 2);
    assert.equal(model.find("0:nothing"), -1);
    assert.deepEqual(splitKey(keyOf(3, "baseline-a:b")), [3, "baseline-a:b"]);
  });

  test("filters by layer, seed and requirements; the original is exempt from requirements", () => {
    assert.deepEqual([...model.seen({ ...filter, dominated: false })], [0, 1, 1, 1, 1, 1]);
    assert.deepEqual([...model.seen({ ...filter, hiddenSeeds: new Set([1]) })], [0, 0, 1, 0, 1, 1]);
    assert.deepEqual([...model.seen({ ...filter, usable: true })], [1, 1, 1, 0, 1, 1]);
    assert.deepEqual([...model.usable], [1, 1, 1, 0, 1, 0]);
  });

  test("says how many seeds found a point of the front, and whether another one equals it", () => {
    assert.equal(model.kindName(1), "front, found by 2 of 2 seeds");
    const equal = new Model({ ...payload, points: { ...payload.points, kind: [1, 2, 2, 2, 3, 4], found: [2, 2, 1, 0, 0, 0] } });
    assert.equal(equal.kindName(0), "as good as the front, found by 2 of 2 seeds");
    assert.equal(model.kindName(0), "dominated");
    const two = new Model({ ...payload, runs: [run, { ...run, called: "b" }], one_table: true });
    assert.equal(two.kindName(2), "front, found by 1 of 4 seeds");
    assert.deepEqual([two.runName(0), two.runName(1), model.runName(0)], ["a", "b", run.label]);
  });

  test("selects within ranges; an undefined value is in no range", () => {
    const seen = model.seen(filter);
    assert.deepEqual([...model.selected(seen, [[2, 8], null])], [1, 1, 1, 1, 0, 0]);
    assert.deepEqual([...model.selected(seen, [[2, 8], [0, 40]])], [0, 1, 1, 1, 0, 0]);
    assert.deepEqual([...model.selected(seen, [null, [-Infinity, Infinity]])], [1, 1, 1, 1, 1, 0]);
  });

  test("the staircase holds what no other point beats, whatever the direction", () => {
    assert.deepEqual(staircase(model, 0, 1, (i) => model.kind[i] === 2), [2, 3, 1]);
    assert.deepEqual(staircase(model, 1, 0, (i) => model.kind[i] === 2), [1, 3, 2]);
  });

  test("orders rows by any column and never jumps on ties", () => {
    assert.deepEqual(ordered(model, [0, 1, 2, 3], "k", false), [0, 1, 3, 2]);
    assert.deepEqual(ordered(model, [0, 1, 2, 3], "k", true), [2, 3, 0, 1]);
    assert.deepEqual(ordered(model, [3, 2, 1, 0], "id", false), [0, 1, 3, 2]);
    assert.deepEqual(ordered(model, [5, 0], "il", false), [0, 5]);
  });

  test("a logarithmic scale is offered for skewed positive values only", () => {
    const long = { ...payload.points, id: ["a", "b", "c", "d"], run: [0, 0, 0, 0], seed: [1, 1, 1, 1], generation: [1, 1, 1, 1], kind: [2, 2, 2, 2], feasible: [1, 1, 1, 1], values: [[1, 0], [2, 1], [9, 2], [900, 3]] };
    assert.equal(skewed(new Model({ ...payload, points: long }), 0), true);
    assert.equal(skewed(new Model({ ...payload, points: long }), 1), false);
  });

  test("a run without any point can be shown", () => {
    const none = { id: [], run: [], seed: [], generation: [], kind: [], feasible: [], found: [], values: [] };
    const empty = new Model({ ...payload, points: none });
    assert.equal(empty.n, 0);
    assert.deepEqual(empty.extents, [[0, 1], [0, 1]]);
  });

  test("another schema is refused in words", () => {
    assert.throws(() => checkPayload({ schema: "sdc-explorer/2" }), /reads sdc-explorer\/1/);
    assert.throws(() => checkPayload(null), /no data/);
  });
});

describe("the address", () => {
  test("comes back as it went", () => {
    const state = {
      ...initial(axes), view: "compare" as const, x: 1, y: 0, logX: true, dominated: false, colour: "seed" as const,
      current: "0:1-1", shortlist: new Map([["0:1-1", "a|b & <c> “ü”"], ["0:baseline-x y", ""]]), compare: ["0:1-1"],
      ranges: [[2, 8], null] as const,
    };
    const back = fromFragment(`#${toFragment({ ...state, ranges: [[2, 8], null] }, axes, true)}`, axes);
    assert.deepEqual({ ...back, shortlist: [...back.shortlist] }, { ...state, shortlist: [...state.shortlist] });
  });

  test("leaves the shortlist to the server where there is one", () => {
    const state = { ...initial(axes), shortlist: new Map([["0:1-1", "secret"]]) };
    assert.ok(!toFragment(state, axes, false).includes("secret"));
    assert.ok(toFragment({ ...state, compare: ["0:1-1", "0:1-2"] }, axes, false).includes("m=0%3A1-1"), "the comparison stays in the address");
  });

  test("the original table is never on the shortlist", () => {
    const state = fromFragment("#s=0:original|n&s=0:1-1&m=0:original&m=0:1-1", axes);
    assert.deepEqual([[...state.shortlist.keys()], state.compare], [["0:1-1"], ["0:1-1"]]);
  });

  test("of a stranger does no harm", () => {
    const state = fromFragment("#v=evil&x=nothing&r=9,1,2&r=0,5,1&r=a,b,c&c=javascript:alert(1)&s=%00&s=x&m=evil&colour=<", axes);
    assert.deepEqual(state, initial(axes));
    const long = fromFragment(`#s=0:1-1|${"x".repeat(5000)}`, axes);
    assert.equal(long.shortlist.get("0:1-1")?.length, 2000);
  });
});

describe("the guided choice", () => {
  const k = [2, 8, 24, 42, 60];
  const il = [10, 12, 20, 24, 60];
  const all = [0, 1, 2, 3, 4];

  test("three candidates: both ends and the knee between them, with the price of a step", () => {
    assert.deepEqual(roles(axes), [0, 1]);
    assert.deepEqual(roles([...axes].reverse()), [1, 0]);
    const found = candidates([k, il], axes, [0, 1], all);
    assert.deepEqual(found.map((one) => [one.name, one.point]), [["Safest", 4], ["Balanced", 3], ["Most useful", 0]]);
    assert.equal(found[0].safer, null);
    assert.equal(price(found[1].freer!, axes, [0, 1]), "smallest class 42 → 24\u00a0records saves 4 points of information loss");
    assert.equal(price(found[2].safer!, axes, [0, 1]), "smallest class 2 → 8\u00a0records costs 2 points of information loss");
  });

  test("fewer points give fewer candidates, and points that another one beats are none", () => {
    assert.deepEqual(candidates([k, il], axes, [0, 1], [0, 4]).map((one) => one.name), ["Safest", "Most useful"]);
    assert.deepEqual(candidates([[2, 2, 1], [10, 11, 12]], axes, [0, 1], [0, 1, 2]).map((one) => [one.name, one.point]), [["Best", 0]]);
    assert.deepEqual(candidates([k, il], axes, [0, 1], []), []);
    assert.deepEqual(candidates([k], axes.slice(0, 1), roles(axes.slice(0, 1)), all).map((one) => one.point), [4]);
    assert.deepEqual(candidates([il], axes.slice(1), roles(axes.slice(1)), all).map((one) => one.point), [0], "one objective, of loss");
  });

  test("who nobody hides with, and a table with nothing left, are no candidates", () => {
    assert.deepEqual([worthless(axes[0], 1), worthless(axes[0], 2), worthless(axes[1], 100), worthless(axes[1], 0)], [true, false, true, false]);
  });

  test("the least group that a study allows protects somebody", () => {
    const three = { ...axes[0], bounds: [3, 23] as [number, number] };
    assert.deepEqual([worthless(three, 3), worthless(three, 1)], [false, true]);
  });

  test("where nothing meets all limits, each says how near it lets the others come", () => {
    const ranges = [limit(axes[0], 50), limit(axes[1], 20)];
    assert.deepEqual(nearest([k, il], axes, ranges, all), [
      "With information loss at most 20\u00a0%, the largest smallest class found is 24\u00a0records.",
      "With smallest class at least 50\u00a0records, the smallest information loss found is 60\u00a0%.",
    ]);
  });
});

describe("two pages with one shortlist", () => {
  const before = new Map([["0:1-1", "a"], ["0:1-2", ""]]);
  const mine = new Map([["0:1-1", "b"], ["0:1-3", ""]]);

  test("send what they changed, and nothing else", () => {
    assert.deepEqual(changes(before, mine), { keep: [["0:1-1", "b"], ["0:1-3", ""]], drop: ["0:1-2"] });
  });

  test("take what the other changed and keep their own", () => {
    const stored = new Map([["0:1-1", "a"], ["0:1-2", ""], ["0:2-7", "theirs"]]);
    assert.deepEqual([...merged(stored, before, mine)], [["0:1-1", "b"], ["0:2-7", "theirs"], ["0:1-3", ""]]);
  });
});

describe("words and numbers", () => {
  test("numbers are short and keep their sign", () => {
    assert.deepEqual([0, 5000, 12.3456, 0.012345, -3.25, 1e12, 2e-9, null, NaN].map((v) => num(v)), ["0", "5,000", "12.35", "0.0123", "−3.25", "1.00e12", "2.00e−9", "–", "–"]);
    assert.deepEqual([0.25, 75, 300, 7300].map(duration), ["250 ms", "75 s", "5 min 0 s", "2 h 2 min"]);
  });

  test("bins are open at both ends", () => {
    assert.deepEqual([0, 1, 2].map((i) => binLabel([10, 20], i)), ["< 10", "10 – 20", "≥ 20"]);
    assert.equal(binLabel([], 0), "all");
  });

  test("direction and control characters are shown as what they are", () => {
    assert.equal(visible("a\u202eb\u0000c"), "a\ufffdb\ufffdc");
    assert.equal(short("x".repeat(100), 10).length, 10);
  });

  test("a word survives a shell, and a cell a spreadsheet", () => {
    assert.deepEqual(["1-17", "a b", "it's; rm -rf"].map(quoted), ["1-17", "'a b'", `'it'\\''s; rm -rf'`]);
    assert.deepEqual(["=1+1", 'a"b', -3, "x,y"].map(csvCell), ["'=1+1", '"a""b"', "-3", '"x,y"']);
  });

  test("ranges are rounded outwards", () => {
    assert.deepEqual([rounded(1.23456, 0), rounded(1.23456, 1), rounded(-1.23456, 0), rounded(0, 1), rounded(5000, 0)], ["1.234", "1.235", "-1.235", "0", "5000"]);
  });
});

describe("charts", () => {
  test("scales give single values and logarithms some room", () => {
    const one = scale([5, 5], [0, 100], false);
    assert.ok(one(5) > 40 && one(5) < 60);
    assert.ok(ticks(scale([1, 100000], [0, 100], true), 6).length <= 9);
    assert.equal(scale([0, 10], [0, 100], true)(0) > 0, true); // no logarithm of zero: linear
  });

  test("before and after meet label by label", () => {
    const before = { kind: "labels" as const, labels: ["a", "b"], counts: [10, 20], rest: 5, rest_labels: 2 };
    const after = { kind: "labels" as const, labels: ["b", "*"], counts: [15, 20], rest: 0, rest_labels: 0 };
    assert.deepEqual(joined(before, after), [
      { label: "a", before: 10, after: null }, { label: "b", before: 20, after: 15 },
      { label: "blanked (*)", before: null, after: 20 }, { label: "rare values", before: 5, after: null },
    ]);
  });

  test("long lists keep their largest lines and the sum of the others", () => {
    const lines = Array.from({ length: 20 }, (_, i) => ({ label: String(i), before: i + 5, after: null }));
    const few = compact(lines, 5);
    assert.deepEqual(few.map((line) => line.label), ["16", "17", "18", "19", "16 others"]);
    assert.equal(few.reduce((sum, line) => sum + (line.before ?? 0), 0), lines.reduce((sum, line) => sum + line.before, 0));
  });

  test("a neighbor is better, worse, equal or a trade-off", () => {
    assert.deepEqual([[3, 4], [1, 6], [2, 5], [3, 6], [2, null]].map((to) => verdict(["max", "min"], [2, 5], to)), [1, -1, 0, 2, 0]);
  });

  test("evaluations per second between two entries", () => {
    const history = { seed: 1, generation: [1, 2], evaluated: [100, 300], front: [1, 1], hypervolume: [0, 0], seconds: [0.5, 1] };
    assert.deepEqual(rates(history), [200, 400]);
  });

  test("pictures of several solutions become rows", () => {
    const formula = (rows: [string, string][]) => [{ type: "formula" as const, title: "", caption: "", text: "", rows }];
    const rows = pictureRows([formula([["a", "with b"], ["b", "with a"]]), formula([["a", "alone"], ["c", "alone"]]), []]);
    assert.deepEqual(rows, [["a", ["with b", "alone", "–"]], ["b", ["with a", "–", "–"]], ["c", ["–", "alone", "–"]]]);
  });
});

describe("the live link", () => {
  test("events arrive whole, however the stream is cut", () => {
    const [first, rest] = events("retry: 2000\n\ndata: changed\n\nda");
    assert.deepEqual(first, ["changed"]);
    assert.deepEqual(events(`${rest}ta: finished\r\n\r\n`), [["finished"], ""]);
    assert.deepEqual(events(": still here\n\n"), [[], ""]);
  });
});

describe("repeated parts", () => {
  test("stand where they are named, and in one another", () => {
    const details = { a: { $: 1 }, b: [{ $: 1 }, { $: 0 }, { one: { $: 0 }, two: 2 }], c: null };
    const put = whole({ schema: "x", details, parts: ["a long sentence", { says: { $: 0 } }] });
    const said = { says: "a long sentence" };
    assert.deepEqual(put, { schema: "x", details: { a: said, b: [said, "a long sentence", { one: "a long sentence", two: 2 }], c: null } });
  });
});

test("sentences begin with a capital, symbols stay small", () => {
  assert.deepEqual(["k = 5 is met", "a node", "solution 1-1"].map(capital), ["k = 5 is met", "A node", "Solution 1-1"]);
});
