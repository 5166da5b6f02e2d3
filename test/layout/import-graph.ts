import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'oxc-parser';

/** Which folder imports which; `edges.get(a)?.get(b)` are pairs of files. Imports of types count. */
export type FolderGraph = Map<string, Map<string, [from: string, to: string][]>>;

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

export function readFileGraph(sources: ReadonlyMap<string, string>): Map<string, string[]> {
  return new Map([...sources].map(([file, text]) => [file, importsOf(file, text)]));
}

/** Nodes in import cycles (Tarjan); each ring begins with the name that sorts first. */
export function findRings(graph: ReadonlyMap<string, Iterable<string>>): string[][] {
  const rings: string[][] = [];
  const found = new Map<string, { order: number; low: number }>();
  const open: string[] = [];
  const visit = (name: string): { order: number; low: number } => {
    const own = { order: found.size, low: found.size };
    found.set(name, own);
    open.push(name);
    for (const target of graph.get(name) ?? []) {
      const known = found.get(target);
      if (known === undefined) own.low = Math.min(own.low, visit(target).low);
      else if (open.includes(target)) own.low = Math.min(own.low, known.order);
    }
    if (own.low === own.order) {
      const ring = open.splice(open.indexOf(name)).sort();
      if (ring.length > 1) rings.push(ring);
    }
    return own;
  };
  for (const name of [...graph.keys()].sort()) if (!found.has(name)) visit(name);
  return rings.sort(([a = ''], [b = '']) => a.localeCompare(b));
}
