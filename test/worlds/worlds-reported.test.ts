import { seedsFrom } from '../support/depth.ts';
import { testReportedWorlds } from './worlds-suite.ts';

// All worlds once at the least depth.
testReportedWorlds('batch-calling', seedsFrom(1, 35));
testReportedWorlds('campaigns', seedsFrom(1, 35));
