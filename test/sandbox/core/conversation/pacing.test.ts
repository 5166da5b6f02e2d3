import { expect, test } from 'vitest';
import { speakingMs } from '../../../../src/sandbox/core/state/talk.ts';
import { plainNumbers, startTestSandbox, type Json } from '../../harness.ts';

const everybodyAnswers = { answered: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 0 };

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? NaN;
}

/** From the end of each turn to the next, milliseconds; a turn takes as long as saying it takes. */
function gapsIn(transcript: Json[]): number[] {
  return transcript
    .slice(1)
    .map((turn, index) => Date.parse(turn.timestamp) - Date.parse(transcript[index].timestamp) - speakingMs(transcript[index].text));
}

test('people answer as fast as people do, and calls last as long as they are drawn to', async () => {
  const sandbox = await startTestSandbox({ outcomeMix: everybodyAnswers, concurrency: 400 });
  for (const agentId of ['agent_reminders', 'agent_survey']) {
    await sandbox.batch(plainNumbers(150), { agent_id: agentId });
    sandbox.clock.advance(7_200_000);
  }
  const gaps: number[] = [];
  const durations: number[] = [];
  for (const call of sandbox.calls().filter(({ silent }) => !silent)) {
    const { transcript, metadata } = (await sandbox.get(`/v1/convai/conversations/${call.conversationId}`)).body;
    const last = transcript.at(-1);
    const endOfLast = Date.parse(last.timestamp) + speakingMs(last.text);
    expect(Date.parse(metadata.end_time) - endOfLast).toBeLessThan(1_500);
    expect(last.time_in_call_secs).toBeLessThanOrEqual(metadata.duration);
    gaps.push(...gapsIn(transcript));
    durations.push(metadata.duration);
  }
  expect(quantile(gaps, 0.5)).toBeLessThan(1_000);
  expect(quantile(gaps, 0.9)).toBeLessThan(2_000);
  expect(Math.max(...gaps)).toBeLessThan(3_000);
  const mean = durations.reduce((sum, duration) => sum + duration, 0) / durations.length;
  expect(mean).toBeGreaterThan(55);
  expect(mean).toBeLessThan(68);
});
