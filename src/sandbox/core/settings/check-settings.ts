import { isTimeOfDay } from '../world/schema.ts';
import { isLoopbackAddress } from '../allowed-host.ts';
import { retryAfterStyles } from '../plans.ts';
import type { SandboxSettings } from './settings.ts';

/** Thrown when the sandbox cannot start as asked; the message says which setting and what to do. */
export class SandboxStartError extends Error {
  override readonly name = 'SandboxStartError' as const;
}

export function checkSettings(settings: SandboxSettings): void {
  const { host, port, speed, concurrency, maxCallsPerBatch, meanTalkSeconds, outcomeMix } = settings;
  const { controlToken, requestsPerSecond, retryAfter, conduct } = settings;
  const { callingHours: hours } = conduct;
  if (!isLoopbackAddress(host) && controlToken === null) {
    throw new SandboxStartError(
      `The sandbox setting host is "${host}", which others can reach; that takes a control token. Give one in a file (--control-token-file) or in CARILLON_SANDBOX_TOKEN, or listen on 127.0.0.1.`,
    );
  }
  const atLeastOne = 'a whole number of at least 1';
  check('port', port, isWhole(port, 0, 65_535), 'a whole number from 0 (any free port) to 65535');
  check('speed', speed, speed > 0 && speed <= 100_000, 'a number above 0, at most 100000');
  check('concurrency', concurrency, isWhole(concurrency), atLeastOne);
  check('maxCallsPerBatch', maxCallsPerBatch, isWhole(maxCallsPerBatch), atLeastOne);
  check('meanTalkSeconds', meanTalkSeconds, meanTalkSeconds > 0, 'a number above 0');
  const isLimit = requestsPerSecond === null || requestsPerSecond > 0;
  check('rateLimit.requestsPerSecond', requestsPerSecond, isLimit, 'null or a number above 0');
  const isToken = controlToken === null || /^[\x21-\x7e]{16,}$/.test(controlToken);
  check('controlToken', '(not shown)', isToken, 'at least 16 printable characters without spaces');
  check('retryAfter', retryAfter, retryAfterStyles.includes(retryAfter), `one of ${retryAfterStyles.join(', ')}`);
  if (hours !== null) {
    const inOrder = isTimeOfDay.test(hours.start) && isTimeOfDay.test(hours.end) && hours.start < hours.end;
    const allowed = 'two times of day as HH:MM, the first before the second';
    check('conduct.callingHours', `${hours.start} to ${hours.end}`, inOrder, allowed);
  }
  for (const name of settings.outbound.hosts)
    check('allowOutbound', name, /^[^\s/@]+$/.test(name), 'a host as it stands in an address: name or name:port');
  for (const [limit, value] of Object.entries(settings.modelLimits)) check(`modelLimits.${limit}`, value, isWhole(value), atLeastOne);
  for (const [name, value] of Object.entries(settings.batchCalling)) checkOpen(`batchCalling.${name}`, value);
  for (const [name, value] of Object.entries(settings.campaigns)) checkOpen(`campaigns.${name}`, value);
  const { pacing, ...amounts } = settings.sockets;
  check('sockets.pacing', pacing, pacing === 'realtime' || pacing === 'fast', 'realtime or fast');
  for (const [name, value] of Object.entries(amounts)) check(`sockets.${name}`, value, isWhole(value), atLeastOne);
  const weights = Object.values(outcomeMix);
  const usable = weights.every((weight) => weight >= 0) && weights.some((weight) => weight > 0);
  check('outcomeMix', JSON.stringify(outcomeMix), usable, 'weights of 0 or more, not all 0');
}

/** What a setting may be that stands for something which the published types leave open, where it is a word. */
const words: Readonly<Record<string, readonly string[]>> = {
  'batchCalling.unanswered': ['failed', 'completed'],
  'batchCalling.cancelEnds': ['waiting', 'ringing', 'talking'],
  'batchCalling.cancelMarks': ['withdrawn', 'all'],
  'batchCalling.listOrder': ['newest_first', 'oldest_first'],
  'batchCalling.recipientIds': ['kept', 'replaced'],
  'campaigns.otherBody': ['existing', 'conflict'],
  'campaigns.schedule': ['kept', 'ignored'],
  'campaigns.stopOfScheduled': ['dials_nobody', 'too_late'],
  'campaigns.recipientIds': ['leads', 'everywhere', 'nowhere'],
};

function checkOpen(setting: string, value: unknown): void {
  const allowed = words[setting];
  if (allowed !== undefined)
    check(
      setting,
      value,
      allowed.some((word) => word === value),
      allowed.join(' or '),
    );
  else if (setting === 'batchCalling.mostListed') check(setting, value, isWhole(value), 'a whole number of at least 1');
  else if (setting.endsWith('Ms')) {
    const isNever = setting === 'campaigns.keyKeptMs' && value === null;
    check(setting, value, isNever || isWhole(value, 0), 'a whole number of milliseconds, 0 or more');
  } else check(setting, value, typeof value === 'boolean', 'true or false');
}

function isWhole(value: unknown, least = 1, most = Infinity): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

function check(setting: string, value: unknown, holds: boolean, allowed: string): void {
  if (!holds) throw new SandboxStartError(`The sandbox setting ${setting} is ${String(value)}; it must be ${allowed}.`);
}
