import { expect, test } from 'vitest';
import type { ChangeStateInput } from '../../activities/change-state.ts';
import { createActivities, type Activities } from '../../activities/index.ts';
import { changeCampaignState } from '../../src/ledger/rows/campaigns.ts';
import { pauseUpdate, resumeUpdate } from '../../workflows/messages.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginProven, noon } from '../ledger/scenario.ts';
import { until } from '../support/until.ts';
import { withCampaign } from './one-campaign.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';

test('a reset of the workflow does not grant an old resume again and undo a pause of the system', async () => {
  const scenario = await beginProven(await openCleanStore('sqlite'));
  const { store } = scenario;
  const own = createActivities(buildDependencies({ store }));
  const told: ChangeStateInput[] = [];
  const activities: Partial<Activities> = {
    checkCallers: async () => ({ ok: true }),
    plan: async () => ({ kind: 'wait', reason: 'paused', inMs: null, outstanding: false }),
    changeState: async (input) => {
      const result = await own.changeState(input);
      told.push(input);
      return result;
    },
  };
  await withCampaign(activities, async (client, handle) => {
    expect(await handle.executeUpdate(pauseUpdate)).toBe(true);
    expect(await handle.executeUpdate(resumeUpdate)).toBe(true);
    const reason = 'the service refuses the key';
    await store.transaction((tx) => changeCampaignState(tx, 'spring', 'paused', reason, noon));
    const paused = { state: 'paused', stateReason: reason };
    const { events } = await handle.fetchHistory();
    const first = events?.find((event) => event.workflowTaskCompletedEventAttributes != null);
    const reset: { runId: string } = await client.workflow.workflowService.resetWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId: handle.workflowId },
      workflowTaskFinishEventId: first?.eventId ?? null,
      requestId: 'reset-once',
      reason: 'an operator tries it',
    });
    await until('the new run was told both wishes', () => told.length === 4);
    const runs = new Set(told.map(({ wish }) => wish?.run));
    expect(runs.size).toBe(2);
    expect(runs).toContain(reset.runId);
    expect(await scenario.campaign()).toMatchObject(paused);
    const again = client.workflow.getHandle(handle.workflowId);
    expect(await again.executeUpdate(resumeUpdate)).toBe(true);
    expect(await scenario.campaign()).toMatchObject({ state: 'running' });
    await again.terminate();
  });
});
