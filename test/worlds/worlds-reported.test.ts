import { seedFactor } from '../support/depth.ts';
import { testReportedWorlds } from './worlds-suite.ts';

// All worlds once at the least depth.
testReportedWorlds('batch-calling', 1, 35 * seedFactor);
testReportedWorlds('campaigns', 1, 35 * seedFactor);
