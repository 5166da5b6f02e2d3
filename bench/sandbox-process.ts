import { startSandbox } from '../src/sandbox/start.ts';
import { readInput, writeResult } from './child.ts';
import type { CampaignSettings } from './settings.ts';

/** The service, in a process of its own so that it shares no event loop with the program it serves. */
const settings = readInput() as CampaignSettings & { startsAt?: number };
const sandbox = await startSandbox({
  dialect: settings.dialect,
  speed: settings.speed,
  seed: settings.seed,
  meanTalkSeconds: settings.meanTalkSeconds,
  outcomeMix: { answered: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 0 },
  concurrency: settings.openCalls,
  ...(settings.startsAt === undefined ? {} : { epochMs: settings.startsAt }),
});
process.once('SIGTERM', () => void sandbox.close().then(() => process.exit(0)));
// Also when whoever started it was killed.
process.stdin.resume().once('end', () => process.exit(0));
writeResult({ url: sandbox.url });
