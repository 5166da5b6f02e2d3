import { expect, test } from 'vitest';
import { dispositions } from '../../src/domain/disposition.ts';
import { failureTypes } from '../../src/domain/failure-types.ts';
import { campaignStates } from '../../src/domain/lifecycle.ts';
import { outcomes, rejectionReasons } from '../../src/domain/outcome.ts';

// These names stand in databases, in the histories of running workflows and in the results of campaigns that are over: there
// may be more of them, but none is ever renamed or taken away.

test('outcomes and the reasons of rows that were refused keep their names', () => {
  expect(outcomes).toEqual(
    expect.arrayContaining([
      'completed',
      'exhausted',
      'opted_out',
      'suppressed',
      'rejected',
      'undialable',
      'expired',
      'cancelled',
      'unresolved',
    ]),
  );
  expect(rejectionReasons).toEqual(
    expect.arrayContaining([
      'missing_phone',
      'invalid_phone',
      'invalid_country',
      'invalid_timezone',
      'missing_value',
      'malformed_row',
      'duplicate_phone',
      'duplicate_id',
      'invalid_zip',
      'invalid_state',
      'invalid_date',
    ]),
  );
});

test('dispositions and the states of a campaign keep their names', () => {
  expect(dispositions).toEqual(
    expect.arrayContaining([
      'answered',
      'voicemail',
      'busy',
      'no_answer',
      'unreached',
      'failed',
      'invalid_number',
      'opted_out',
      'unknown',
    ]),
  );
  expect(campaignStates).toEqual(
    expect.arrayContaining(['importing', 'draft', 'running', 'paused', 'draining', 'completed', 'cancelled', 'failed']),
  );
});

test('failures of activities keep the types by which histories tell them apart', () => {
  expect(failureTypes).toMatchObject({
    rateLimited: 'RateLimited',
    notSent: 'NotSent',
    blocked: 'Blocked',
    serviceUnavailable: 'ServiceUnavailable',
    ledgerOlder: 'LedgerOlder',
    database: 'Database',
  });
  const types: string[] = Object.values(failureTypes);
  expect(new Set(types).size).toBe(types.length);
  expect(types).not.toContain('');
});
