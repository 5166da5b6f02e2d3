import { join } from 'node:path';
import { checkLayout, checkSizes } from './check-layout.ts';
import { readFolderGraph, readSources } from './import-graph.ts';

const sources = readSources(join(import.meta.dirname, '../..'));
const graph = readFolderGraph(sources);
if (process.argv.includes('--graph'))
  for (const [from, edges] of [...graph].sort(([a], [b]) => a.localeCompare(b)))
    console.log(`${from} → ${edges.size === 0 ? 'nothing' : [...edges.keys()].sort().join(', ')}`);
const faults = [...checkLayout(graph), ...checkSizes(sources)];
for (const fault of faults) console.error(fault);
const imports = [...graph.values()].reduce((sum, edges) => sum + edges.size, 0);
console.log(`${graph.size} folders, ${imports} imports between them, ${faults.length} against the layout`);
process.exitCode = faults.length === 0 ? 0 : 1;
