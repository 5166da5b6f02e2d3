import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describeFileError, OutputFileError } from '../../../shared/input/errors.ts';
import type { CallbackRules } from '../../../rules/callback-rules.ts';
import type { ValueRule } from '../../../rules/talk-results.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { privateSettings, type LocalWorldInput } from '../access/local-world.ts';

export interface RehearsalSettings {
  /** Service seconds per real second. */
  speed: number;
  /** Service time, epoch ms. */
  startAt: number;
  seed: string;
  dialect: 'spec' | 'extended';
}

export interface RehearsalFolder {
  folder: string;
  databasePath: string;
  logPath: string;
  /** Deletes the folder, unless it is kept. */
  tidy(): Promise<void>;
}

/** Minimum real time between sweeps: otherwise the machine does nothing else. */
const shortestPollRealMs = 100;

/** Fetching a Temporal server takes minutes at worst. */
const longestStartRealMs = 3_600_000;
const dayMs = 24 * 3_600_000;

/** Real time: on a slow machine the usual limits would hold recipients up for days of service time after a lost answer. */
const limits = {
  SVC_CONNECT_TIMEOUT_MS: '5000',
  SVC_HEADERS_TIMEOUT_MS: '10000',
  SVC_BODY_TIMEOUT_MS: '10000',
  SVC_READS_PER_SECOND: '2000',
  CARILLON_POSTING_WINDOW_MS: '5000',
  CARILLON_SUBMITS_PER_SECOND: '100',
};

/** The named folder, which must be new or empty, or a temporary one. Throws OutputFileError. */
export async function createRehearsalFolder(keep: string | null): Promise<RehearsalFolder> {
  const folder = keep === null ? await mkdtemp(join(tmpdir(), 'carillon-rehearsal-')) : await makeEmpty(resolve(keep));
  return {
    folder,
    databasePath: join(folder, 'carillon.db'),
    logPath: join(folder, 'worker.log'),
    tidy: async () => {
      if (keep === null) await rm(folder, { recursive: true, force: true });
    },
  };
}

async function makeEmpty(folder: string): Promise<string> {
  let names: string[];
  try {
    await mkdir(folder, { recursive: true });
    names = await readdir(folder);
  } catch (error) {
    throw new OutputFileError(folder, `the folder was not made: ${describeFileError(error)}`, { cause: error });
  }
  if (names.length === 0) return folder;
  throw new OutputFileError(folder, 'the folder of --keep is not empty; name a new one', { isBadInput: true });
}

/** In words too: no outside system is called, and conversations are polled no faster than this machine can. */
export function rehearsalRules(rules: CampaignRules, speed: number): { rules: CampaignRules; notes: string[] } {
  const pollMs = Math.max(rules.timing.pollMs, Math.round(shortestPollRealMs * speed));
  const notes = [
    ...(rules.preDial === null ? [] : ['pre_dial is not asked: it counts as allowing every call']),
    ...(rules.onCompletion === null ? [] : ['on_completion is not notified']),
    ...(rules.onPause === null ? [] : ['on_pause is not notified']),
    ...(rules.pilot === undefined ? [] : ['the pilot is called first, and the rest without the word of a person']),
    ...(rules.staysOpen === undefined ? [] : ['nobody adds rows, so it ends when everybody of the list has been called']),
    ...(rules.gates === undefined ? [] : ['gates are not asked: people of a rehearsal answer at random']),
    ...(pollMs === rules.timing.pollMs
      ? []
      : [
          `finished calls are looked for every ${pollMs / 1000} s of service time, not every ${rules.timing.pollMs / 1000} s as in the file: ` +
            'lines are free a little later than they would be (a lower --speed is more exact)',
        ]),
  ];
  const { gates: _, staysOpen: __, pilot, ...kept } = rules;
  const first = pilot === undefined ? {} : { pilot: { ...pilot, next: 'go_on' as const } };
  return {
    rules: { ...kept, ...first, preDial: null, onCompletion: null, onPause: null, timing: { ...rules.timing, pollMs } },
    notes,
  };
}

export function rehearsalWorld(
  { databasePath, logPath }: RehearsalFolder,
  { speed, startAt, seed, dialect }: RehearsalSettings,
  rules: CampaignRules,
): LocalWorldInput {
  return {
    sandbox: {
      port: 0,
      speed,
      // Service time passes during start-up; it is set to the start once all is ready.
      epochMs: startAt - longestStartRealMs * speed,
      seed,
      dialect,
      // As many lines as the campaign uses: the account's limit is unknown here.
      concurrency: Math.max(30, rules.pacing.maxConcurrentCalls),
    },
    settings: privateSettings(databasePath, limits),
    logPath,
  };
}

interface SandboxState {
  agents: { agentId: string; agent: { platform: { data_collection?: object; evaluation?: { criteria: object[] } } } }[];
  numbers: object[];
}

/** Uses the ids of the campaign file, through the control API. */
export async function furnish(url: string, rules: CampaignRules, startAt: number): Promise<void> {
  const state = (await ask(`${url}/_sandbox/export`)) as SandboxState;
  const [seed] = state.agents;
  if (seed === undefined) throw new Error('the sandbox has no agent to start from');
  const { platform } = seed.agent;
  const results = (rules.results ?? []).flatMap(({ value }) => value ?? []);
  const valuesOf = (resultKey: string) =>
    results.filter(({ source, key }) => source === 'collected' && key === resultKey).flatMap(({ values }) => values);
  const collectedItems = [
    ...results.filter(({ source }) => source === 'collected').map(({ key }) => [key, resultItem(key, valuesOf(key))] as const),
    ...(rules.callback === undefined ? [] : callbackItems(rules.callback, startAt)),
    ...rules.optOut.filter(({ source }) => source === 'collected').map(({ key }) => [key, optOutItem] as const),
  ];
  const criterion = (key: string, prompt: string) => ({ id: key, name: key, type: 'prompt', conversation_goal_prompt: prompt });
  const criteria = [
    ...results.filter(({ source }) => source === 'evaluation').map(({ key }) => criterion(key, `Whether this holds: ${key}.`)),
    ...rules.optOut.filter(({ source }) => source === 'evaluation').map(({ key }) => criterion(key, optOutItem.description)),
  ];
  const agent = {
    ...seed.agent,
    agentId: rules.agentId,
    platform: {
      ...platform,
      data_collection: { ...platform.data_collection, ...Object.fromEntries(collectedItems) },
      evaluation: { ...platform.evaluation, criteria: [...(platform.evaluation?.criteria ?? []), ...criteria] },
    },
  };
  const numbers = rules.callers.numbers.map((phoneNumberId, index) => ({
    phoneNumberId,
    phoneNumber: callerNumber(index),
    label: 'Rehearsal',
    agentId: rules.agentId,
    type: 'purchased',
    provider: 'telephony',
    accountSid: null,
    verified: true,
  }));
  await ask(`${url}/_sandbox/import`, { ...state, agents: [{ agentId: rules.agentId, agent }], numbers });
}

/** Possible result of a simulated talk: a value with a rule, or none of them. */
function resultItem(key: string, values: ValueRule['values']) {
  return { type: 'string', description: key, enum: [...new Set([...values.map(String), 'something else'])] } as const;
}

/** Answers of simulated recipients who want a callback: a local time on the next two weekdays, or minutes. */
function callbackItems({ at }: CallbackRules, startAt: number): (readonly [string, object])[] {
  const days = [1, 2, 3, 4].map((day) => new Date(startAt + day * dayMs)).filter((day) => ![0, 6].includes(day.getUTCDay()));
  const dates = days.slice(0, 2).map((day) => day.toISOString().slice(0, 10));
  const hours = ['10:00', '16:30'];
  switch (at.kind) {
    case 'at':
      return [
        [
          at.key,
          {
            type: 'string',
            description: 'When may we call you back?',
            enum: dates.flatMap((date) => hours.map((hour) => `${date} ${hour}`)),
          },
        ],
      ];
    case 'in':
      return [[at.key, { type: 'integer', description: 'In how many minutes, from 10 to 120, may we call you back?' }]];
    case 'date_and_time':
      return [
        [at.date, { type: 'string', description: 'On which day may we call you back?', enum: dates }],
        [at.time, { type: 'string', description: 'At what time of that day?', enum: hours }],
      ];
  }
}

const optOutItem = { type: 'boolean', description: 'Whether the person asked not to be called again.' } as const;
const callerAreas = ['212', '312', '415', '305', '713', '602', '206', '404', '617', '303'];

/** Fictional numbers that no recipient has: 555-0190 to 555-0199 of ten area codes. */
function callerNumber(index: number): string {
  const area = callerAreas[index % callerAreas.length] ?? '212';
  return `+1${area}5550${190 + (Math.floor(index / callerAreas.length) % 10)}`;
}

async function ask(url: string, body?: object): Promise<unknown> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(url, body === undefined ? {} : post);
  if (!response.ok) throw new Error(`the rehearsal's sandbox was not set up: ${response.status} ${await response.text()}`);
  return response.json();
}
