import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CampaignSettings } from './settings.ts';

const areaCodes = [
  '201 202 203 205 206 207 208 209 210 212 213 214 215 216 217 218 219 224 225 228 229 231 234 239 240 248 251 252 253 254',
  '256 260 262 267 269 270 272 276 281 301 302 303 304 305 307 308 309 310 312 313 314 315 316 317 318 319 320 321 323 325',
  '330 331 334 336 337 339 347 351 352 360 361 386 401 402 404 405 406 407 408 409 410 412 413 414 415 417 419 423 424 425',
  '430 432 434 435 440 443 469 478 479 480 484 501 502 503 504 505 507 508 509 510 512 513 515 516 517 518 520 530 540 541',
].flatMap((line) => line.split(' '));

/** Last four digits that the sandbox gives a fixed behaviour; the bench wants the drawn one. */
const magicEndings = new Set([
  '0100',
  '0101',
  '0102',
  '0103',
  '0104',
  '0105',
  '0106',
  '0107',
  '0108',
  '0109',
  '0110',
  '0111',
  '0112',
  '0113',
  '0114',
  '0115',
  '0120',
]);

/** Numbers 555-0100 to 555-0199, which are set aside for fiction, without those that the sandbox treats in a special way. */
function* callableNumbers(): Generator<string> {
  for (const area of areaCodes) {
    for (let line = 100; line < 200; line += 1) {
      const ending = String(line).padStart(4, '0');
      if (!magicEndings.has(ending)) yield `+1${area}555${ending}`;
    }
  }
}

/** Numbers 555-0100 to 555-0199 of every area code that could be, over and over. */
export function* fictionalNumbers(): Generator<string, never> {
  for (;;) {
    for (let line = 100; line < 200; line += 1) {
      const ending = String(line).padStart(4, '0');
      if (magicEndings.has(ending)) continue;
      for (let area = 200; area < 990; area += 1) if (area % 100 !== 11) yield `+1${area}555${ending}`;
    }
  }
}

/**
 * The whole exchange 555 but directory assistance: nobody has these numbers. There are not enough of those set aside for fiction to
 * fill a list of a million different ones, and nothing dials this list.
 */
function* importNumbers(): Generator<string> {
  for (let line = 0; line < 10_000; line += 1) {
    const ending = String(line).padStart(4, '0');
    if (ending !== '1212') for (const area of areaCodes) yield `(${area}) 555-${ending}`;
  }
}

function row(number: string, index: number): string {
  const names = ['Ada', 'Björn', 'Chloé', 'Dmitri', 'Eun-ji', 'Fatima', 'Grace', 'Hugo'];
  const minute = String(index % 60).padStart(2, '0');
  const hour = 8 + (Math.floor(index / 60) % 10);
  const visit = index % 3 === 0 ? '"check-up, with blood test"' : 'check-up';
  return `${number},p-${index + 1},${names[index % names.length]} ${index + 1},${visit},${hour}:${minute}\n`;
}

function campaignFile({ id, agentId }: { id: string; agentId: string }, settings: CampaignSettings): string {
  return `id: ${id}
agent_id: ${agentId}
from_phone_number_id: pn_main
list: { file: recipients.csv, phone: phone, id: patient_id, default_region: US }
first_message: 'Hello {{ first_name }}, this is the clinic about your {{ visit }} at {{ time }}. Will you be able to come?'
variables:
  values: { first_name: '{{ first_name }}', appointment: '{{ visit }} at {{ time }}' }
hours: any
law: off
retry: { max_attempts: 1 }
pacing:
  max_concurrent_calls: ${settings.openCalls}
  batch_size: ${settings.batchSize}
  refill_threshold: ${settings.refillThreshold}
advanced: { poll: ${settings.pollSeconds}s }
`;
}

/** Writes a campaign file with its list into `folder`. Answers the path of the campaign file. */
async function writeCampaign(
  folder: string,
  settings: CampaignSettings,
  numbers: Iterator<string>,
  rows: number,
  duplicateEvery: number,
  names = { id: 'bench', agentId: 'agent_reminders', people: 0 },
): Promise<string> {
  const list = createWriteStream(join(folder, 'recipients.csv'));
  list.write('phone,patient_id,first_name,visit,time\n');
  let text = '';
  let number = '';
  for (let index = 0; index < rows; index += 1) {
    const repeats = duplicateEvery > 0 && index % duplicateEvery === duplicateEvery - 1;
    if (!repeats) {
      const next = numbers.next();
      if (next.done === true) throw new RangeError(`There are only ${index} numbers for a list of ${rows} rows.`);
      number = next.value;
    }
    text += row(number, names.people + index);
    if (text.length < 1_000_000) continue;
    if (!list.write(text)) await once(list, 'drain');
    text = '';
  }
  list.end(text);
  await once(list, 'close');
  const path = join(folder, 'campaign.yaml');
  await writeFile(path, campaignFile(names, settings));
  return path;
}

export function writeCallableCampaign(folder: string, settings: CampaignSettings): Promise<string> {
  return writeCampaign(folder, settings, callableNumbers(), settings.recipients, 0);
}

/** Campaigns with different numbers, `settings.recipients` of them each, one per agent that is named, in folders of their own. */
export async function writeCallableCampaigns(folder: string, settings: CampaignSettings, agents: readonly string[]): Promise<string[]> {
  const numbers = callableNumbers();
  const paths: string[] = [];
  for (const [index, agentId] of agents.entries()) {
    const own = await mkdtemp(join(folder, 'campaign-'));
    const names = { id: `bench-${index + 1}`, agentId, people: index * settings.recipients };
    paths.push(await writeCampaign(own, settings, numbers, settings.recipients, 0, names));
  }
  return paths;
}

/** One row in a hundred repeats the number before it and is rejected. */
export function writeImportCampaign(folder: string, settings: CampaignSettings, rows: number): Promise<string> {
  return writeCampaign(folder, settings, importNumbers(), rows, 100);
}
