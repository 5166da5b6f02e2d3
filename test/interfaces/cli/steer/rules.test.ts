import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createWorld } from '../campaign-world.ts';

test('house rules are set, shown, bind a check and a start, and are lifted', async () => {
  const world = await createWorld();
  const house = world.path('house.yaml');
  const rules = (text: string, ...flags: string[]) => {
    writeFileSync(house, text);
    return world.run('rules', 'set', house, ...flags);
  };
  expect(await rules('caps: [{ calls: 0, within: 7d }]\n')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/house\.yaml:1: caps\[0\]\.calls/),
  });
  const text = 'caps: [{ calls: 3, within: 7d }]\nconsent: required\n';
  expect(await rules(text, '--dry-run')).toMatchObject({ code: 0, stdout: 'Version 1 would hold from now on.\n' });
  expect((await world.run('rules', 'show')).stdout).toContain('There are no house rules');
  expect(await rules(text)).toMatchObject({ code: 0, stdout: 'Version 1 of the house rules holds for every call from now on.\n' });
  expect(await rules(text)).toMatchObject({ code: 0, stdout: 'The house rules say so already; nothing was changed.\n' });
  expect((await world.run('rules', 'show')).stdout).toMatch(
    /^Version 1 .*\n {2}At most 3 calls to a number within 7 days\.\n {2}No campaign calls without consent in its file\.\n$/i,
  );
  expect(JSON.parse((await world.run('rules', 'show', '--json')).stdout)).toMatchObject({ now: { version: 1, text }, before: [] });

  const file = world.writeCampaign({});
  const checked = await world.run('check', file);
  expect(checked).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/yaml:1: consent: is missing, and version 1 of the house rules requires it/),
  });
  expect(await world.run('start', file)).toMatchObject({ code: 2, stderr: expect.stringContaining('house rules requires it') });

  expect(await world.run('rehearse', file)).toMatchObject({ code: 2, stderr: expect.stringContaining('house rules requires it') });
  await rules('caps: [{ calls: 3, within: 7d }]\n');
  const found = await world.run('check', file);
  expect(found).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/House rules\n {2}Version 2 holds[\s\S]*At most 3 calls to a number within 7 days\./),
  });
  expect(await world.run('rules', 'lift')).toMatchObject({ code: 2 });
  expect(await world.run('rules', 'lift', '--yes')).toMatchObject({ code: 0, stdout: expect.stringContaining('Version 3') });
  expect((await world.run('rules', 'show')).stdout).toMatch(/^Version 3 lifts the house rules, .*\n2 versions before it\.\n$/);
  expect((await world.run('check', file)).stdout).not.toContain('House rules');
});
