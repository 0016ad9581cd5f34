// Builds dist/page.html: one file with its style and its script; report and server put the data beside them.
import { build } from "esbuild";
import { mkdir, readFile, writeFile } from "node:fs/promises";

const here = new URL(".", import.meta.url).pathname;
const shared = { bundle: true, minify: true, write: false, legalComments: "none", charset: "utf8", absWorkingDir: here };
const script = await build({ ...shared, entryPoints: ["src/main.ts"], format: "iife", target: "es2022" });
const style = await build({ ...shared, entryPoints: ["src/style.css"], target: ["chrome110", "firefox110", "safari16"] });
const js = script.outputFiles[0].text.trim();
const css = style.outputFiles[0].text.trim();
for (const end of ["</script", "<!--", "</style"]) {
  if (js.includes(end) || css.includes(end)) throw new Error(`the built page holds ${end}`);
}
const notice = "Bundles d3-array, d3-brush, d3-quadtree, d3-sankey, d3-scale, d3-selection, d3-shape and what they need: Copyright Mike Bostock, ISC License.";
const template = await readFile(`${here}src/page.html`, "utf8");
const page = template
  .replace("{notice}", () => notice)
  .replace("{style}", () => css)
  .replace("{script}", () => js);
const target = process.argv[2] ?? `${here}dist/page.html`;
await mkdir(target.slice(0, target.lastIndexOf("/")), { recursive: true });
await writeFile(target, page);
console.log(`${target}: ${Buffer.byteLength(page)} bytes`);
