# shellcheck shell=bash
# Who reaches whom. Every refusal has the same attempt without the policy
# beside it, so that it is the policy that refuses.

: "${scratch:?}" "${space:?}"

network_checks() {
  server=$(address server)
  service=$(service_address)
  # A pod, a Service, and the API server by its Service and by the node.
  targets=("$server:8000" "$service:80" 10.96.0.1:443 10.200.0.2:6443)
  check "a pod finds a Service by its name" service_by_name
  check "without a policy a pod reaches pod, Service and API server" reaches_all
  check "the machine reaches pod, Service and node port" machine_reaches
  check "a pod reaches the machine under the node's address" masqueraded
  check "a deny policy for outgoing traffic is obeyed, and its removal too" deny_outgoing
  check "a deny policy for incoming traffic is obeyed, and its removal too" deny_incoming
  check "a policy holds from a pod's first packet on" deny_from_the_start
  check "without a policy the first packet passes" first_packet_passes
  check "no engine, no new connections" fails_closed
  check "a pod cannot send under another's address" no_spoofing
}

service_address() {
  kubectl get service --namespace "$space" server --output 'jsonpath={.spec.clusterIP}'
}

service_by_name() {
  inside client getent hosts "server.$space.svc.cluster.local" | grep "$service"
  inside client getent hosts server | grep "$service"
  refuse inside client getent hosts "nobody.$space.svc.cluster.local"
}

# reached prints what the client gets a connection to, trying all at once.
reached() {
  # shellcheck disable=SC2016 # for the shell in the pod
  inside client bash -c '
    for target; do (timeout 2 bash -c "exec 3<>/dev/tcp/${target/:/\/}" 2>/dev/null && echo "$target") & done; wait' \
    attempts "$@" | sort
}

reaches_all() {
  [[ $(reached "${targets[@]}") == $(printf '%s\n' "${targets[@]}" | sort) ]]
}

reaches_none() {
  [[ -z $(reached "${targets[@]}") ]] && inside client true
}

machine_reaches() {
  local port
  port=$(kubectl get service --namespace "$space" server --output 'jsonpath={.spec.ports[0].nodePort}')
  timeout 2 bash -c "exec 3<>/dev/tcp/$server/8000"
  timeout 2 bash -c "exec 3<>/dev/tcp/$service/80"
  timeout 2 bash -c "exec 3<>/dev/tcp/10.200.0.2/$port"
}

masqueraded() {
  perl -e 'use IO::Socket::INET; $| = 1;
    $s = IO::Socket::INET->new(LocalAddr => "10.200.0.1", Listen => 1) or die;
    print $s->sockport, "\n"; $c = $s->accept; print $c->peerhost, "\n"' >"$scratch/listener" &
  local listener=$!
  within 5 grep --quiet . "$scratch/listener"
  connects client 10.200.0.1 "$(head -n 1 "$scratch/listener")"
  wait "$listener"
  [[ $(tail -n 1 "$scratch/listener") == 10.200.0.2 ]]
}

# policy NAME POD TYPE makes a policy that allows nothing.
policy() {
  kubectl apply --namespace "$space" --filename - <<END
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: $1}
spec:
  podSelector: {matchLabels: {$2}}
  policyTypes: [$3]
  ${4-}
END
}

deny_outgoing() {
  policy deny "app: client" Egress
  within 5 reaches_none
  kubectl delete --namespace "$space" networkpolicy deny
  within 5 reaches_all
  # An empty list of rules allows as little as no list.
  policy deny "app: client" Egress "egress: []"
  within 5 reaches_none
  kubectl delete --namespace "$space" networkpolicy deny
  within 5 connects client "$server" 8000
}

deny_incoming() {
  policy closed "app: server" Ingress
  within 5 refuse connects client "$server" 8000
  refuse connects client "$service" 80
  refuse timeout 2 bash -c "exec 3<>/dev/tcp/$server/8000"
  connects client 10.96.0.1 443
  policy closed "app: server" Ingress "ingress: [{from: [{podSelector: {matchLabels: {app: client}}}]}]"
  within 5 connects client "$server" 8000
  refuse connects talker "$server" 8000
  kubectl delete --namespace "$space" networkpolicy closed
  within 5 connects talker "$server" 8000
}

# dialer NAME LABELS starts a pod that tries to connect from its first moment
# and writes how each attempt went.
dialer() {
  command="bash, -c, 'for i in 1 2 3 4 5 6; do timeout 0.3 bash -c \"exec 3<>/dev/tcp/$server/8000\" 2>/dev/null && echo reached || echo refused; done; sleep infinity'" \
    pod "$1" "$2"
  ready "$1"
  within 20 dialed "$1"
}

dialed() {
  kubectl logs --namespace "$space" "$1" >"$scratch/dialed" &&
    (($(wc --lines <"$scratch/dialed") == 6))
}

deny_from_the_start() {
  local i
  policy quiet "quiet: 'yes'" Egress
  for i in 1 2; do
    dialer "quiet$i" "quiet: 'yes'"
    cat "$scratch/dialed"
    refuse grep reached "$scratch/dialed"
  done
}

first_packet_passes() {
  dialer loud ""
  refuse grep refused "$scratch/dialed"
}

fails_closed() {
  local engine
  engine=$(cat /var/lib/sandglass-cluster/pids/network-policies)
  connects client "$server" 8000
  cluster exec -- kill -STOP "$engine"
  refuse connects client "$server" 8000
  cluster exec -- kill -KILL "$engine"
  # The supervisor brings it back.
  within 20 connects client "$server" 8000
  cluster status
}

no_spoofing() {
  # The raw socket sends from an address that the pod does not have; what
  # arrives at the node's end is counted by its filter for foreign sources.
  # shellcheck disable=SC2016 # variables of Perl
  inside client perl -e '
    use Socket; socket(S, AF_INET, SOCK_RAW, 255) or die "raw socket: $!";
    my ($to, $from) = @ARGV;
    send(S, pack("CCnnnCCna4a4nnnn", 0x45, 0, 28, 1, 0, 64, 17, 0, inet_aton($from), inet_aton($to), 9, 53, 8, 0),
      0, sockaddr_in(0, inet_aton($to))) or die "send: $!"' 10.200.0.2 "$server"
  within 5 dropped_as_foreign
}

dropped_as_foreign() {
  (($(cluster exec -- cat /proc/net/netstat | awk '
    /^TcpExt/ && !names { split($0, name); names = 1; next }
    /^TcpExt/ { split($0, value); for (i in name) if (name[i] == "IPReversePathFilter") print value[i] }') > 0))
}
