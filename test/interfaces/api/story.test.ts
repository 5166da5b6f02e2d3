import { expect, test } from 'vitest';
import { addSuppressions } from '../../../src/ledger/rows/suppressions.ts';
import { minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { answered, beginProven, noon, numbers } from '../../ledger/scenario.ts';
import { ApiWorld } from './api-world.ts';

test('the story of a row tells each decision in order, and what comes next and why', async () => {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store);
  const [one = ''] = numbers(1);
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [
    { ...answered('conv_1', one, noon + 5_000), callResult: 'busy', userTurns: 0, agentTurns: 0, collected: null },
  ]);
  const world = await ApiWorld.over(store);
  world.at = noon + 2 * minuteMs;
  const story = await world.ask('GET /api/v1/campaigns/spring/rows/1/story', { role: 'read' });
  expect(story.status).toBe(200);
  expect(story.body.story.map(({ text }: { text: string }) => text)).toEqual([
    'call 1 planned',
    'call 1 requested from the service',
    expect.stringMatching(/^call 1 is conversation conv_1 \(by /),
    expect.stringMatching(/^call 1 ended: busy/),
  ]);
  expect(story.body.rows).toMatchObject([
    {
      campaignId: 'spring',
      row: 1,
      state: 'waiting',
      calls: [{ number: 1, disposition: 'busy', conversationId: 'conv_1' }],
    },
  ]);
  expect(story.body.rows[0].next).toMatch(/^It may be called at .*: /);
  expect(JSON.stringify(story.body)).not.toContain(one);
  const shown = await world.ask('GET /api/v1/campaigns/spring/rows/1/story?numbers=shown', { role: 'operate' });
  expect(shown.body.e164).toBe(one);

  const entry = { e164: one, scope: 'account', source: 'person', reason: null, expiresAt: null };
  await addSuppressions(store, [entry], world.at);
  const stopped = await world.ask('GET /api/v1/campaigns/spring/rows/1/story');
  expect(stopped.body).toMatchObject({
    suppressed: true,
    rows: [{ next: 'It will not be called: the number is on the do-not-call list.' }],
  });
  expect(await world.ask('GET /api/v1/campaigns/spring/rows/99/story')).toMatchObject({
    status: 404,
    body: { code: 'unknown_row' },
  });
});
