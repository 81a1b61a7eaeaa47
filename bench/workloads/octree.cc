// BODIES bodies under gravity, STEPS steps: in each one an octree of small nodes is built, walked once for every body,
// and taken down again.
//
//	octree BODIES STEPS
//
// Little of the time is malloc's; what counts is how near to each other nodes lie that were allocated together.
#include <math.h>

#include <array>
#include <vector>

#include "support.h"

namespace {

using Vector = std::array<double, 3>;

struct Body {
  Vector at, speed, pull;
};

// A cube of space: a leaf with one body, or eight cubes and the centre of their mass.
struct Node {
  Vector centre, middle;
  double half, mass;
  const Body* body;
  Node* parts[8];
};

Node* NewNode(const Vector& middle, double half) {
  Node* const node = static_cast<Node*>(bench::Allocate(sizeof(Node)));
  *node = {{}, middle, half, 0, nullptr, {}};
  return node;
}

void Discard(Node* node) {
  if (node == nullptr) return;
  for (Node* part : node->parts) Discard(part);
  free(node);
}

Node*& PartFor(Node* node, const Vector& at) {
  int index = 0;
  for (int i = 0; i < 3; i++) index |= (at[i] > node->middle[i]) << i;
  Node*& part = node->parts[index];
  if (part == nullptr) {
    Vector middle = node->middle;
    for (int i = 0; i < 3; i++) middle[i] += (index >> i & 1 ? 0.5 : -0.5) * node->half;
    part = NewNode(middle, node->half / 2);
  }
  return part;
}

constexpr double kSmallest = 1e-6;  // of a cube: closer bodies share a leaf

void Insert(Node* node, const Body& body) {
  for (;;) {
    const bool leaf = node->body != nullptr, empty = node->mass == 0;
    for (int i = 0; i < 3; i++)
      node->centre[i] = (node->centre[i] * node->mass + body.at[i]) / (node->mass + 1);
    node->mass++;
    if (empty) node->body = &body;
    if (empty || node->half < kSmallest) return;
    if (leaf) {
      Node* const part = PartFor(node, node->body->at);
      part->body = node->body;
      part->centre = node->body->at;
      part->mass = 1;
      node->body = nullptr;
    }
    node = PartFor(node, body.at);
  }
}

void Pull(const Node* node, Body& body) {
  Vector way;
  double square = 1e-3;
  for (int i = 0; i < 3; i++) {
    way[i] = node->centre[i] - body.at[i];
    square += way[i] * way[i];
  }
  if (node->body == nullptr && node->half * node->half > 0.2 * square) {
    for (const Node* part : node->parts)
      if (part != nullptr) Pull(part, body);
    return;
  }
  const double strength = node->mass / (square * sqrt(square));
  for (int i = 0; i < 3; i++) body.pull[i] += strength * way[i];
}

void Step(std::vector<Body>& bodies, double time) {
  double half = 1;
  for (const Body& body : bodies)
    for (double x : body.at)
      while (fabs(x) > half) half *= 2;
  Node* const root = NewNode({}, half);
  for (const Body& body : bodies) Insert(root, body);
  if (root->mass != static_cast<double>(bodies.size())) bench::Fail("a body is missing in the tree");
  for (Body& body : bodies) {
    body.pull = {};
    Pull(root, body);
  }
  for (Body& body : bodies)
    for (int i = 0; i < 3; i++) {
      body.speed[i] += time * body.pull[i];
      body.at[i] += time * body.speed[i];
    }
  Discard(root);
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 2, "BODIES STEPS");
  std::vector<Body> bodies(arguments.Number(1));
  bench::Random random(14);
  for (Body& body : bodies) {
    body = {};
    for (double& x : body.at) x = static_cast<double>(random.Next()) / 2147483648.0 - 1;
  }
  const double time = 0.01 / sqrt(static_cast<double>(bodies.size()));
  for (uint64_t step = arguments.Number(2); step > 0; step--) Step(bodies, time);
  for (const Body& body : bodies)
    for (double x : body.at)
      if (!(fabs(x) < 10)) bench::Fail("a body left the system");
}
