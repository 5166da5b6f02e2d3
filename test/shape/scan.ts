import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { findTokens, textOf } from '../support/leak-scan.ts';
import type { Listed } from '../world/population.ts';
import type { WorkerProcess } from '../support/worker-process.ts';
import type { World } from './world.ts';

/** `control`: a text that the place certainly contains. */
interface Place {
  name: string;
  text: string;
  control: string;
}

/**
 * Searches Temporal's data (histories, pending work, visibility), logs, metrics and command output for keys, passwords, numbers and names.
 * Returns the findings.
 */
export async function scanWorld(world: World, people: readonly Listed[]): Promise<string[]> {
  const planted = `planted-${randomUUID()}`;
  const { client } = world;
  const handle = await client.workflow.start('planted', {
    taskQueue: 'nobody',
    workflowId: 'planted',
    args: [{ inside: planted }],
  });
  await handle.terminate('It was the control of a scan.');
  const places: Place[] = [
    { name: 'Temporal', text: await textOfDatabases(world.temporalDatabase.url), control: planted },
    { name: 'a log', text: outputOf(world.everyWorker), control: 'is ready' },
    { name: 'a log of the API', text: outputOf(world.office.everyProcess), control: 'The console is at' },
    { name: 'a metric', text: await world.metrics(), control: 'carillon_calls{' },
    { name: 'a command', text: world.said(), control: 'shape' },
  ];
  return judgePlaces(places, secretsOf(people, world.keys));
}

function outputOf(processes: readonly WorkerProcess[]): string {
  return processes.map((each) => each.output()).join('\n');
}

export function secretsOf(people: readonly Listed[], keys: readonly string[]): string[] {
  const numbers = people.filter(({ kind }) => kind !== 'bad').map(({ phone }) => phone.slice(1));
  return [...keys, ...numbers, ...people.map(({ name }) => name)];
}

/** A sentence for each secret found, and for each place whose control is missing. */
export function judgePlaces(places: readonly Place[], secrets: readonly string[]): string[] {
  return places.flatMap(({ name, text, control }) => [
    ...findTokens(text, secrets).map((secret) => `${secret} stands in ${name}`),
    ...(text.includes(control) ? [] : [`The scan of ${name} does not find its control ${control}`]),
  ]);
}

async function textOfDatabases(url: string): Promise<string> {
  const texts: string[] = [];
  for (const database of ['temporal', 'temporal_visibility']) {
    const db = new Client({ connectionString: Object.assign(new URL(url), { pathname: `/${database}` }).href });
    await db.connect();
    try {
      const tables = await db.query<{ name: string }>(
        `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
      );
      for (const { name } of tables.rows) texts.push(textOf((await db.query(`select * from ${name}`)).rows));
    } finally {
      await db.end();
    }
  }
  return texts.join('\n');
}
