import { join } from 'node:path';
import { checkCircles, checkLayout, checkSizes } from './check-layout.ts';
import { readFolderGraph, readSources } from './import-graph.ts';
import { checkThirdParty } from './third-party.ts';
import { checkWeight, mostOf, weigh, type Weight } from './weigh.ts';

const root = join(import.meta.dirname, '../..');
const sources = readSources(root);
const graph = readFolderGraph(sources);
if (process.argv.includes('--graph'))
  for (const [from, edges] of [...graph].sort(([a], [b]) => a.localeCompare(b)))
    console.log(`${from} → ${edges.size === 0 ? 'nothing' : [...edges.keys()].sort().join(', ')}`);
const weight = weigh(root);
if (process.argv.includes('--weight'))
  for (const [name, value] of Object.entries(weight)) console.log(`${name}: ${value} of at most ${mostOf[name as keyof Weight]}`);
const faults = [...checkLayout(graph), ...checkCircles(sources), ...checkSizes(sources), ...checkWeight(weight), ...checkThirdParty(root)];
for (const fault of faults) console.error(fault);
const imports = [...graph.values()].reduce((sum, edges) => sum + edges.size, 0);
console.log(`${graph.size} folders, ${imports} imports between them, ${faults.length} against the layout`);
process.exitCode = faults.length === 0 ? 0 : 1;
