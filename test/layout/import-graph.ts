import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'oxc-parser';

/** Which folder imports which, and the lines that do: `edges.get(a)?.get(b)` are pairs of files. Imports of types count. */
export type FolderGraph = Map<string, Map<string, [from: string, to: string][]>>;

/** The files of production code below a root, as paths from it. */
export function readSources(root: string): Map<string, string> {
  const sources = new Map<string, string>();
  for (const top of ['src', 'workflows', 'activities'])
    for (const entry of readdirSync(join(root, top), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.name.endsWith('.d.ts')) continue;
      const path = join(entry.parentPath, entry.name);
      sources.set(path.slice(root.length + 1), readFileSync(path, 'utf8'));
    }
  return sources;
}

export function readFolderGraph(sources: ReadonlyMap<string, string>): FolderGraph {
  const graph: FolderGraph = new Map();
  for (const [file, text] of sources) {
    const from = dirname(file);
    const edges = graph.get(from) ?? new Map<string, [string, string][]>();
    graph.set(from, edges);
    for (const target of importsOf(file, text)) {
      const to = dirname(target);
      if (to !== from) edges.set(to, [...(edges.get(to) ?? []), [file, target]]);
    }
  }
  return graph;
}

function importsOf(file: string, text: string): string[] {
  const { module, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message ?? ''}`);
  const dynamic = module.dynamicImports.map(({ moduleRequest }) => text.slice(moduleRequest.start + 1, moduleRequest.end - 1));
  const exported = module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest }) => (moduleRequest === null ? [] : [moduleRequest.value])),
  );
  const imported = module.staticImports.map(({ moduleRequest }) => moduleRequest.value);
  return [...new Set([...imported, ...exported, ...dynamic])]
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => normalize(join(dirname(file), specifier)));
}

/** Folders that import each other by any way round; each ring begins with the name that sorts first. */
export function findRings(graph: FolderGraph): string[][] {
  const rings: string[][] = [];
  const seen = new Set<string>();
  for (const start of [...graph.keys()].sort()) {
    if (seen.has(start)) continue;
    const forward = reachable(start, (folder) => [...(graph.get(folder)?.keys() ?? [])]);
    const ring = [...forward].filter((folder) => reachable(folder, (at) => [...(graph.get(at)?.keys() ?? [])]).has(start));
    if (ring.length === 0) continue;
    for (const folder of ring) seen.add(folder);
    rings.push([start, ...ring.filter((folder) => folder !== start).sort()]);
  }
  return rings;
}

/** What can be reached in one step or more. */
function reachable(start: string, next: (folder: string) => string[]): Set<string> {
  const found = new Set<string>();
  const open = next(start);
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    if (found.has(folder)) continue;
    found.add(folder);
    open.push(...next(folder));
  }
  return found;
}
