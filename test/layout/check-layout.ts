import { dirname } from 'node:path';
import { floors, layers } from './floors.ts';
import { findRings, readFileGraph, type FolderGraph } from './import-graph.ts';

/** Forbidden imports and circles of folders, with their lines. Empty: the layout is kept. */
export function checkLayout(graph: FolderGraph, allowed: typeof floors = floors, order: typeof layers = layers): string[] {
  const faults: string[] = [];
  for (const [from, edges] of graph) {
    const list = Object.entries(allowed).find(([name]) => covers(name, from))?.[1];
    if (list === undefined) {
      faults.push(`${from} has no line in test/layout/floors.ts: say what it may import.`);
      continue;
    }
    for (const [to, lines] of edges) {
      const rule = upwards(order, from, to) ?? (list.some((name) => covers(name, to)) ? null : `${from} may not import ${to}`);
      if (rule !== null) for (const [file, target] of lines) faults.push(`${file} imports ${target}: ${rule} (test/layout/floors.ts).`);
    }
  }
  for (const ring of findRings(keysOf(byFloor(graph, allowed)))) faults.push(`Folders import each other: ${ring.join(', ')}.`);
  return faults;
}

/** Why an import leads up; null: it leads down, or stays in its room. */
function upwards(order: typeof layers, from: string, to: string): string | null {
  const [own, other] = [from, to].map((folder) => {
    const level = order.findIndex((rooms) => rooms.some((room) => covers(`${room}/**`, folder)));
    return { level, room: order[level]?.find((room) => covers(`${room}/**`, folder)) };
  });
  if (own?.room === undefined || other?.room === undefined || own.room === other.room || other.level < own.level) return null;
  return `${other.room} is no layer below ${own.room}`;
}

const keysOf = (graph: FolderGraph) => new Map([...graph].map(([from, edges]) => [from, edges.keys()]));

/** Files that import each other in a circle, types included. Empty: none. */
export function checkCircles(sources: ReadonlyMap<string, string>): string[] {
  return findRings(readFileGraph(sources)).map(
    (ring) => `Files import each other in a circle: ${ring.join(', ')}. Put what they share into a file below them.`,
  );
}

const mostFiles = 25;
const mostLines = 300;

/** Folders and files too large to be read at once. Empty: none. */
export function checkSizes(sources: ReadonlyMap<string, string>): string[] {
  const faults: string[] = [];
  const files = new Map<string, number>();
  for (const [file, text] of sources) {
    const folder = dirname(file);
    files.set(folder, (files.get(folder) ?? 0) + 1);
    const lines = text.split('\n').length - 1;
    if (lines > mostLines) faults.push(`${file} has ${lines} lines, more than ${mostLines}: split it.`);
  }
  for (const [folder, count] of files)
    if (count > mostFiles) faults.push(`${folder} has ${count} files, more than ${mostFiles}: give some a folder.`);
  return faults;
}

function byFloor(graph: FolderGraph, allowed: typeof floors): FolderGraph {
  const floorOf = (folder: string) => Object.keys(allowed).find((name) => covers(name, folder)) ?? folder;
  const rooms: FolderGraph = new Map();
  for (const [from, edges] of graph) {
    const room = floorOf(from);
    const merged = rooms.get(room) ?? new Map<string, [string, string][]>();
    rooms.set(room, merged);
    for (const [to, lines] of edges) if (floorOf(to) !== room) merged.set(floorOf(to), [...(merged.get(floorOf(to)) ?? []), ...lines]);
  }
  return rooms;
}

function covers(name: string, folder: string): boolean {
  if (!name.endsWith('/**')) return name === folder;
  const room = name.slice(0, -3);
  return folder === room || folder.startsWith(`${room}/`);
}
