import { expect, test } from 'vitest';
import { withControl, type Control } from '../../../src/operations/control/control.ts';
import { lookBeforeSteering, pause, steer } from '../../../src/operations/control/steer.ts';
import { createWorld } from '../../interfaces/cli/campaign-world.ts';

test('a resume that was wished on sight of an earlier pause does not undo a later one', async () => {
  const world = await createWorld();
  await world.run('start', world.writeCampaign({ rows: 3, yaml: ['starts_at: 2099-01-01T00:00:00Z'] }));
  await world.work();
  const within = <Result>(work: (control: Control) => Promise<Result>) => withControl(world.terminal(), work);
  const wish = { campaignId: world.id, wish: 'resume' } as const;

  const told: string[] = [];
  const { campaign, notice } = await within((control) =>
    pause(control, { campaignId: world.id, onCommitted: ({ state }) => void told.push(state) }),
  );
  expect({ state: campaign.state, notice, told }).toEqual({
    state: 'paused',
    notice: { told: true },
    told: ['paused'],
  });
  const { pausesSeen } = await within((control) => lookBeforeSteering(control, world.id, 'resume'));
  await within((control) => steer(control, { ...wish, pausesSeen }));
  await within((control) => pause(control, { campaignId: world.id }));

  // A page of before shows the first pause, and somebody presses its button now.
  await expect(within((control) => steer(control, { ...wish, pausesSeen }))).rejects.toMatchObject({
    name: 'CampaignMessageError',
    message: `Campaign ${world.id} is PAUSED; nothing was changed.`,
  });
  await within((control) => steer(control, wish));
  expect(await within((control) => lookBeforeSteering(control, world.id, 'cancel'))).toMatchObject({
    campaign: { state: 'scheduled' },
  });
  // What was decided about an earlier round ends no later one, here or at its workflow.
  const before = { campaignId: world.id, round: 0 };
  const refused = {
    name: 'WrongStateError',
    message: expect.stringMatching(/is in round 1 now\. .* round 0, and nothing/),
  };
  await expect(within((control) => pause(control, before))).rejects.toMatchObject(refused);
  await expect(within((control) => steer(control, { ...before, wish: 'cancel' }))).rejects.toMatchObject(refused);
  expect(await within((control) => lookBeforeSteering(control, world.id, 'cancel'))).toMatchObject({
    campaign: { state: 'scheduled' },
  });
  await within((control) => steer(control, { ...before, round: 1, wish: 'cancel' }));
});
