import { floors } from './floors.ts';
import { findRings, type FolderGraph } from './import-graph.ts';

/** What a folder imports against its floor, and rings of folders; each with the lines that do it. Empty: the layout holds. */
export function checkLayout(graph: FolderGraph, allowed: typeof floors = floors): string[] {
  const faults: string[] = [];
  for (const [from, edges] of graph) {
    const list = Object.entries(allowed).find(([name]) => covers(name, from))?.[1];
    if (list === undefined) {
      faults.push(`${from} has no line in test/layout/floors.ts: say what it may import.`);
      continue;
    }
    for (const [to, lines] of edges)
      if (!list.some((name) => covers(name, to)))
        for (const [file, target] of lines)
          faults.push(`${file} imports ${target}: ${from} may not import ${to} (test/layout/floors.ts).`);
  }
  for (const ring of findRings(byFloor(graph, allowed))) faults.push(`Folders import each other: ${ring.join(', ')}.`);
  return faults;
}

/** The same graph with every room in place of its folders. */
function byFloor(graph: FolderGraph, allowed: typeof floors): FolderGraph {
  const floorOf = (folder: string) => Object.keys(allowed).find((name) => covers(name, folder)) ?? folder;
  const rooms: FolderGraph = new Map();
  for (const [from, edges] of graph) {
    const room = floorOf(from);
    const merged = rooms.get(room) ?? new Map<string, [string, string][]>();
    rooms.set(room, merged);
    for (const [to, lines] of edges)
      if (floorOf(to) !== room) merged.set(floorOf(to), [...(merged.get(floorOf(to)) ?? []), ...lines]);
  }
  return rooms;
}

function covers(name: string, folder: string): boolean {
  if (!name.endsWith('/**')) return name === folder;
  const room = name.slice(0, -3);
  return folder === room || folder.startsWith(`${room}/`);
}
