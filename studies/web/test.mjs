// Bundles every src/*.test.ts and runs it with node's own test runner.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const here = new URL(".", import.meta.url).pathname;
const out = await mkdtemp(join(tmpdir(), "sdc-page-"));
const tests = (await readdir(`${here}src`)).filter((name) => name.endsWith(".test.ts"));
await build({
  entryPoints: tests.map((name) => `src/${name}`), absWorkingDir: here, outdir: out, outExtension: { ".js": ".mjs" },
  bundle: true, platform: "node", format: "esm", target: "node20", external: ["node:*"],
});
const done = spawnSync(process.execPath, ["--test", ...tests.map((name) => join(out, name.replace(/\.ts$/, ".mjs")))], {
  stdio: "inherit",
});
await rm(out, { recursive: true });
process.exit(done.status ?? 1);
