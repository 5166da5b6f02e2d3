import type { Command } from 'commander';
import type { Io } from './io.ts';

/** One line of `carillon --help`, and how to get the command when it is wanted: nothing else is loaded, so help is quick. */
export interface CommandEntry {
  name: string;
  summary: string;
  load: () => Promise<(io: Io) => Command>;
}

export const commands: readonly CommandEntry[] = [
  {
    name: 'demo',
    summary: 'rehearse a whole campaign on this machine: Temporal, sandbox, worker, results',
    load: () => pending('demo'),
  },
  {
    name: 'check',
    summary: 'say what a campaign would do, without placing a call',
    load: async () => (await import('./check.ts')).checkCommand,
  },
  { name: 'run', summary: 'start a campaign, or attach to it, and watch it to its end', load: () => pending('run') },
  { name: 'start', summary: 'start a campaign and return', load: () => pending('start') },
  { name: 'status', summary: 'show how far a campaign is', load: () => pending('status') },
  {
    name: 'pause',
    summary: 'place no further calls; open ones are still collected',
    load: () => pending('pause'),
  },
  { name: 'resume', summary: 'go on with a paused campaign', load: () => pending('resume') },
  {
    name: 'cancel',
    summary: 'end a campaign; recipients that wait are not called',
    load: () => pending('cancel'),
  },
  {
    name: 'resolve',
    summary: 'decide on calls of which nobody knows whether they were placed',
    load: () => pending('resolve'),
  },
  {
    name: 'results',
    summary: 'write the results file: one line per row of the list',
    load: () => pending('results'),
  },
  { name: 'worker', summary: 'do the work of campaigns until stopped', load: () => pending('worker') },
  {
    name: 'sandbox',
    summary: 'run the service itself on this machine, with simulated calls',
    load: async () => (await import('./sandbox.ts')).sandboxCommand,
  },
  {
    name: 'dev',
    summary: 'run Temporal, the sandbox and a worker together until Ctrl-C',
    load: () => pending('dev'),
  },
  {
    name: 'doctor',
    summary: 'say what works here, what does not, and what to do about it',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
];

async function pending(name: string): Promise<(io: Io) => Command> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const module = (await import(`./${name}.${extension}`)) as Record<string, (io: Io) => Command>;
  const create = module[`${name}Command`];
  if (create === undefined) throw new Error(`src/cli/${name}.ts exports no ${name}Command`);
  return create;
}
