// SPDX-License-Identifier: MIT
// The everyday part in one line: plans, the verifier, the simulator, pictures, and collectives on threads. Programs that care for
// their compile time include the single headers. MPI, BSP and the exact solvers have headers of their own.
#pragma once

#include "chasqui/plan/collectives.hpp"
#include "chasqui/schedule/json.hpp"
#include "chasqui/show/draw.hpp"
#include "chasqui/simulate/simulate.hpp"
#include "chasqui/threads/team.hpp"
#include "chasqui/verify/verify.hpp"
